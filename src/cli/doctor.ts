import { existsSync } from 'node:fs'
import { sealKey } from '../auth/console.ts'
import { type Config, readConfig } from '../config.ts'
import { sealBy } from '../done.ts'
import { examine } from '../store/examine.ts'
import { systemActor } from '../tools/access.ts'
import { backupFinding, dataFindings } from './doctor-data.ts'
import { diskFinding, freeSpaceOf, lookAtFolder } from './doctor-folder.ts'
import { lookAtProgram, lookAtServers, lookAtSite } from './doctor-program.ts'
import { readFlags } from './options.ts'
import { refuseElsewhere } from './place.ts'

/** What one check has come to. */
export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'wrong'
  found: string
  /** What to do, where it is not ok. */
  next?: string
}

/**
 * `donectl doctor`: looks at everything that keeps an installation well, and says of each how it is and what to do. Nothing is
 * changed, and no data are begun. Exit code 1 where anything is wrong.
 */
export async function run(args: string[]): Promise<number> {
  const { flags, switches } = readFlags(args, ['data'], { switches: ['json'] })
  const config = readConfig({ ...(flags.data === undefined ? {} : { data: flags.data }) }, process.env)
  const findings = await lookAtAll(config)
  const count = (status: Finding['status']) => findings.filter((each) => each.status === status).length
  const [ok, warning, wrong] = [count('ok'), count('warning'), count('wrong')]
  if (switches.json) console.log(JSON.stringify({ checks: findings, ok, warning, wrong }, null, 2))
  else {
    for (const each of findings) console.log(lineOf(each))
    console.log(`\n${ok} ok, ${warning} to look at, ${wrong} wrong.`)
  }
  return wrong === 0 ? 0 : 1
}

async function lookAtAll(config: Config): Promise<Finding[]> {
  const { dataDir } = config
  const { key, finding } = keyOf(config)
  return [
    ...lookAtProgram(),
    ...(existsSync(dataDir) ? lookAtFolder(dataDir) : []),
    finding,
    ...(await lookAtData(config, key)),
    ...(await lookAtServers(dataDir)),
    lookAtSite(config),
  ]
}

function keyOf({ dataDir, sealKey: given }: Config): { key?: Buffer; finding: Finding } {
  try {
    const key = sealKey(dataDir, given, false)
    const from = given === undefined ? 'seal.key' : 'DONE_SEAL_KEY'
    return { key, finding: { check: 'key', status: 'ok', found: `${from} holds a key.` } }
  } catch (error) {
    return { finding: { check: 'key', status: 'wrong', found: (error as Error).message } }
  }
}

async function lookAtData(config: Config, key: Buffer | undefined): Promise<Finding[]> {
  const { dataDir, database, rolePrefix } = config
  try {
    refuseElsewhere(config)
    const examined = await examine({
      dir: dataDir,
      database,
      rolePrefix,
      seal: key && sealBy(key),
      actorOf: systemActor,
    })
    const now = Date.now()
    const free = freeSpaceOf(dataDir)
    return [
      ...dataFindings(examined, now),
      ...(free === undefined ? [] : [diskFinding({ ...examined, free, isHere: database === undefined })]),
      backupFinding(dataDir, examined, now),
    ]
  } catch (error) {
    return [{ check: 'database', status: 'wrong', found: (error as Error).message }]
  }
}

const lineOf = ({ check, status, found, next }: Finding): string =>
  `${status.padEnd(8)} ${check.padEnd(12)} ${next === undefined ? found : `${found} ${next}`}`
