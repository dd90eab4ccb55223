import { hash } from 'node:crypto'

/** What a sign-off is bound to (gate G5): everything whose change would make it a sign-off of something else. */
export interface Meaning {
  title: string
  description: string
  project: number | null
  parent: number | null
  assignee: string | null
  due: string | null
  recurrence: string | null
  auto_ok: number
  steps: readonly { id: number; title: string; description: string; position: string; status: string }[]
  /** The hash of the bytes of a text or file; a link counts by its address. */
  artifacts: readonly { id: number; title: string; kind: string; url: string | null; sha256: string }[]
  children: readonly { id: number; content_version: number; closed: boolean }[]
}

/** SHA-256 over a canonical form, in hex. Lists come sorted by id, so that storage order never matters. */
export function hashMeaning(meaning: Meaning): string {
  const canonical = [
    meaning.title,
    meaning.description,
    meaning.project,
    meaning.parent,
    meaning.assignee,
    meaning.due,
    meaning.recurrence,
    meaning.auto_ok,
    meaning.steps.map((step) => [step.id, step.title, step.description, step.position, step.status]),
    meaning.artifacts.map((each) => [each.id, each.title, each.kind, each.url, each.sha256]),
    meaning.children.map((child) => [child.id, child.content_version, child.closed]),
  ]
  return hash('sha256', JSON.stringify(canonical), 'hex')
}
