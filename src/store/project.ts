import type { SelectQueryBuilder } from 'kysely'
import { notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import type { Database, Row } from './tables.ts'
import { trashed } from './trash.ts'

/** The projects that the caller can see: of the account, of the credential's narrowing, not in the Trash. */
export function visibleProjects(tx: ReadTx): SelectQueryBuilder<Database, 'projects', Record<never, never>> {
  const { projects } = tx.actor
  return sqlOf(tx)
    .selectFrom('projects')
    .where('projects.account', '=', tx.account)
    .where('projects.trash', 'is', null)
    .$if(projects !== undefined, (query) => query.where('projects.id', 'in', [...projects!]))
}

/** One project, by number. Throws `not_found` where there is none that the caller can see. */
export async function projectById(tx: ReadTx, id: number): Promise<Row<'projects'>> {
  const project = await visibleProjects(tx)
    .selectAll('projects')
    .where('projects.id', '=', id)
    .executeTakeFirst()
  if (project) return project
  const gone = await sqlOf(tx)
    .selectFrom('projects')
    .select('trash')
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .where('trash', 'is not', null)
    .$if(tx.actor.projects !== undefined, (query) => query.where('id', 'in', [...tx.actor.projects!]))
    .executeTakeFirst()
  if (gone) throw trashed(formatId('project', id), gone.trash!)
  throw notFound(`There is no project ${formatId('project', id)}.`, { next: 'list_projects shows them all.' })
}

/** Names of projects by number, for answers. */
export async function projectNames(
  tx: ReadTx,
  ids: readonly (number | null)[],
): Promise<Map<number, string>> {
  const wanted = [...new Set(ids.filter((id): id is number => id !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await sqlOf(tx)
    .selectFrom('projects')
    .select(['id', 'name'])
    .where('account', '=', tx.account)
    .where('id', 'in', wanted)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, `${formatId('project', id)} ${name}`]))
}
