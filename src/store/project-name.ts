import { notFound } from '../model/error.ts'
import { formatId, parseId } from '../model/id.ts'
import { fold, nearest } from '../model/suggest.ts'
import type { ReadTx } from './handle.ts'
import { projectById, visibleProjects } from './project.ts'
import type { Row } from './tables.ts'

/** The project that an id names, as people and models write it. A name is an error that tells the ids of the nearest three. */
export async function projectMeant(tx: ReadTx, said: string): Promise<Row<'projects'>> {
  if (looksLikeId(said)) return projectById(tx, parseId(said, 'project').number)
  const allowed = await projectsLike(tx, said)
  throw notFound(`There is no project with the id "${said.slice(0, 80)}".`, {
    allowed,
    next: `Give an id like ${allowed[0]?.split(' ')[0] ?? 'P1'}; list_projects shows them all.`,
  })
}

/** Like {@link projectMeant}, where a project's own name will do as well; undefined where there is none of that name. */
export async function projectNamedOrMeant(tx: ReadTx, said: string): Promise<Row<'projects'> | undefined> {
  if (looksLikeId(said)) return projectMeant(tx, said)
  return visibleProjects(tx)
    .selectAll('projects')
    .where('projects.name_key', '=', fold(said.trim()))
    .executeTakeFirst()
}

/** How many names a mistaken one is compared with. */
const COMPARED = 1000

/** Up to three projects that could be meant, best first: `P1 Website`. */
export async function projectsLike(tx: ReadTx, said: string): Promise<string[]> {
  const projects = await visibleProjects(tx)
    .select(['projects.id', 'projects.name'])
    .orderBy('projects.id', 'desc')
    .limit(COMPARED)
    .execute()
  const near = nearest(
    said.trim(),
    projects.map((project) => project.name),
  )
  return near.map((name) => {
    const { id } = projects.find((project) => project.name === name)!
    return `${formatId('project', id)} ${name}`
  })
}

const looksLikeId = (said: string): boolean => /^\s*p?\d+(\s|$)/i.test(said)
