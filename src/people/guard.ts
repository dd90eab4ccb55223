import type { Actor, Role } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { nearest } from '../model/suggest.ts'
import type { Callable } from '../tools/call.ts'
import { PEOPLE_CATALOG } from './catalog.ts'
import { type Operation, peopleOnly } from './operation.ts'

/** An operation by its name; nothing for a name that is not in the catalogue, `__proto__` and the like included. */
function operationNamed(name: string): Operation | undefined {
  return Object.hasOwn(PEOPLE_CATALOG, name) ? PEOPLE_CATALOG[name as keyof typeof PEOPLE_CATALOG] : undefined
}

/** What `callWith` needs to call operations in place of tools. */
export const PEOPLE: Callable = { toolNamed: operationNamed, guard }

const RANK: Record<Role, number> = { viewer: 0, member: 1, owner: 2 }

/** Refuses everybody but a signed-in person of the role that the operation needs. */
function guard(actor: Actor, name: string): void {
  if (actor.kind !== 'person') throw peopleOnly(Object.hasOwn(PEOPLE_CATALOG, name) ? name : 'This')
  const operation = operationNamed(name)
  if (!operation) {
    throw new AppError('not_found', `There is no operation "${name.slice(0, 80)}".`, {
      allowed: nearest(name, Object.keys(PEOPLE_CATALOG)),
    })
  }
  if (RANK[actor.role] < RANK[operation.role]) {
    throw new AppError('people_only', `${name} needs the role ${operation.role}; yours is ${actor.role}.`, {
      retry: false,
      next: `Ask ${operation.role === 'owner' ? 'the owner' : 'a member'} of the account.`,
    })
  }
}
