import { z } from 'zod'
import type { PersonActor } from '../model/actor.ts'
import { AppError, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { endSession } from '../store/credential.ts'
import { emit, type ReadTx, type WriteTx } from '../store/handle.ts'
import { liveSessions, sessionById } from '../store/session.ts'
import { read, write } from '../tools/tool.ts'
import { moment, sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

export const sessionOperations = {
  list_sessions: forPeople(
    'viewer',
    read({
      title: 'List sessions',
      does: 'Where you are signed in; for an owner, where everybody of the account is.',
      toolset: 'me',
      input: z.strictObject({}),
      output: z.looseObject({ sessions: z.array(z.looseObject({ id: z.string() })) }),
      http: 'GET /sessions',
      example: {},
      run: async (tx) => {
        const { role, session, id } = me(tx)
        const sessions = await liveSessions(tx, role === 'owner' ? undefined : Number(id.slice(1)))
        return {
          sessions: sessions.map((each) =>
            sparse({
              id: each.id,
              person: formatId('person', each.person),
              began: each.began,
              signed_in_at: moment(each.signed_in_at),
              expires_at: moment(each.expires_at),
              this: each.id === session.id,
            }),
          ),
        }
      },
    }),
  ),

  revoke_session: forPeople(
    'viewer',
    write({
      title: 'End a session',
      does: 'Ends one of your sessions; an owner can end anybody’s.',
      toolset: 'me',
      convergent: true,
      input: z.strictObject({ id: z.string().min(1).max(80) }),
      output: z.looseObject({ id: z.string(), ended: z.literal(true) }),
      http: 'DELETE /sessions/:id',
      example: { id: '00000000-0000-4000-8000-000000000000' },
      run: async (tx, { id }) => {
        const found = await sessionById(tx, id)
        const own = found && formatId('person', found.person) === tx.actor.id
        if (!found || (!own && me(tx).role !== 'owner')) {
          throw notFound('There is no such session.', { next: 'list_sessions shows them.' })
        }
        if (found.revoked_at !== null) return { id, ended: true, already: true }
        return end(tx, id, formatId('person', found.person))
      },
    }),
  ),

  sign_out: forPeople(
    'viewer',
    write({
      title: 'Sign out',
      does: 'Ends this session.',
      toolset: 'me',
      convergent: true,
      input: z.strictObject({}),
      output: z.looseObject({ ended: z.literal(true) }),
      http: 'POST /sign-out',
      example: {},
      run: (tx) => end(tx, me(tx).session.id, tx.actor.id),
    }),
  ),
}

async function end(tx: WriteTx, id: string, person: string): Promise<{ id: string; ended: true }> {
  await endSession(tx, id)
  await emit(tx, { kind: 'session_ended', object: person })
  return { id, ended: true }
}

function me(tx: ReadTx): PersonActor {
  if (tx.actor.kind !== 'person') throw new AppError('people_only', 'Only a person has sessions.')
  return tx.actor
}
