import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PersonActor } from '../src/model/actor.ts'
import { answerQuestion } from '../src/store/answer.ts'
import { reject } from '../src/store/approval.ts'
import { sqlOf } from '../src/store/handle.ts'
import { questionById } from '../src/store/question.ts'
import { requestById } from '../src/store/request.ts'
import { addSource } from '../src/store/source.ts'
import type { World } from './world.ts'

/** What people do in a story, since no tool does it: each acts with Ana's own fresh session. */

/** Ana answers a question. */
export async function anaAnswers(world: World, question: string, answer: string): Promise<void> {
  const { actor } = await world.signInAgain()
  await world.done.store.write(actor, 'answer_question', async (tx) => {
    await answerQuestion(tx, await questionById(tx, Number(question.slice(1))), answer)
  })
}

/** Ana sends work back. */
export async function anaRejects(world: World, request: string, note: string): Promise<void> {
  const { actor } = await world.signInAgain()
  await world.done.store.write(actor, 'reject', async (tx) => {
    await reject(tx, await requestById(tx, Number(request.slice(1))), note)
  })
}

/** Ana connects a folder with these files, which goes with the world. Returns its path. */
export async function anaConnects(
  world: World,
  name: string,
  files: Record<string, string>,
  may_save = true,
): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'done-source-'))
  world.atEnd(() => rmSync(root, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), text)
  await world.done.store.write(world.ana.actor, 'add_folder', (tx) =>
    addSource(tx, { name, kind: 'folder', config: { root }, may_save }),
  )
  return root
}

/** A member, Bea, who owns an agent and sits at what was Ana's session, since there is no way yet to invite anybody. */
export async function beaTakesOver(world: World, agent: string): Promise<PersonActor> {
  const ana = world.ana.actor as PersonActor
  const bea = {
    account: world.account,
    id: 2,
    name: 'Bea',
    role: 'member' as const,
    zone: null,
    login: null,
    login_key: null,
    left_at: null,
    created_at: 0,
  }
  await world.done.store.write(ana, 'test', async (tx) => {
    const db = sqlOf(tx)
    await db.insertInto('people').values(bea).execute()
    await db.updateTable('sessions').set({ person: bea.id }).where('id', '=', ana.session.id).execute()
    await db
      .updateTable('agents')
      .set({ owner: bea.id })
      .where('id', '=', Number(agent.slice(1)))
      .execute()
  })
  return { ...ana, id: 'U2', owner: 'U2', name: bea.name, role: bea.role }
}
