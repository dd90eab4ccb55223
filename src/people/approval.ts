import { z } from 'zod'
import { assertionIn } from '../model/assertion.ts'
import { invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
import { approve, reject } from '../store/approval.ts'
import { pendingSignOffs } from '../store/digest.ts'
import { requireForm } from '../store/form.ts'
import { requestById } from '../store/request.ts'
import { taskById, taskInTrash } from '../store/task.ts'
import { trashEntry } from '../store/trash.ts'
import { idOf, instant } from '../tools/fields.ts'
import { finishedAnswer } from '../tools/task-answer.ts'
import { read, write } from '../tools/tool.ts'
import { inBrief, signOffFacts } from './facts.ts'
import { forPeople } from './operation.ts'

const decided = z.looseObject({ id: z.string(), status: z.string(), decided: z.string() })

export const approvalOperations = {
  list_sign_offs: forPeople(
    'viewer',
    read({
      title: 'List what waits for sign-off',
      does: 'Requests that nobody has decided, oldest first, 100 at most.',
      toolset: 'approvals',
      input: z.strictObject({}),
      output: z.looseObject({ sign_offs: z.array(z.looseObject({ id: z.string() })) }),
      http: 'GET /sign-offs',
      example: {},
      run: async (tx) => {
        const name = await partyNames(tx)
        const waiting = await pendingSignOffs(tx, {})
        return { sign_offs: await Promise.all(waiting.map((request) => inBrief(tx, request, name))) }
      },
    }),
  ),

  get_sign_off: forPeople(
    'viewer',
    read({
      title: 'Get all that a sign-off rests on',
      does: 'The facts, the agent’s words and, while the request waits, the form: content version, hash and a nonce that is good for 15 minutes in this session.',
      toolset: 'approvals',
      noun: 'request',
      input: z.strictObject({ id: idOf('request'), since: instant('backward').optional() }),
      output: z.looseObject({ id: z.string(), state: z.string() }),
      http: 'GET /sign-offs/:id',
      example: { id: 'A1' },
      run: async (tx, { id, since }) => {
        const request = await requestById(tx, id)
        const gone = await taskInTrash(tx, request.task)
        if (gone && !(await trashEntry(tx, gone.trash!))) {
          throw notFound(`${formatId('task', gone.id)}, which this was about, was removed for good.`)
        }
        return signOffFacts(tx, request, gone ?? (await taskById(tx, request.task)), since)
      },
    }),
  ),

  sign_off: forPeople(
    'member',
    write({
      title: 'Approve',
      does: 'Signs off exactly the content that the form was shown for, and closes the task by it. Anything that changed since makes it a conflict. Who has a passkey gives its answer, as JSON, in `assertion`.',
      toolset: 'approvals',
      noun: 'request',
      convergent: true,
      input: z.strictObject({
        id: idOf('request'),
        version: z.int(),
        hash: z.string().max(128),
        nonce: z.string().max(200),
        assertion: z.string().max(10_000).optional(),
      }),
      output: decided,
      http: 'POST /sign-offs/:id/approve',
      example: { id: 'A1', version: 1, hash: 'from get_sign_off', nonce: 'from get_sign_off' },
      run: async (tx, { id, assertion, ...form }) => {
        const request = await requestById(tx, id)
        if (request.state === 'pending') requireForm(tx, request, form)
        const signed = assertion === undefined ? undefined : assertionIn(assertion, form.nonce)
        if (assertion !== undefined && !signed)
          throw invalid('assertion is not the answer of a browser’s passkey.', {
            next: 'Send what navigator.credentials.get gave, as JSON text.',
          })
        const done = await approve(tx, request, form, signed)
        return { ...(await finishedAnswer(tx, done)), decided: formatId('request', id) }
      },
    }),
    'fresh',
  ),

  reject: forPeople(
    'member',
    write({
      title: 'Reject',
      does: 'Sends the work back with a note, which the agent finds first.',
      toolset: 'approvals',
      noun: 'request',
      convergent: true,
      input: z.strictObject({ id: idOf('request'), note: z.string().trim().min(1).max(LIMITS.comment) }),
      output: decided,
      http: 'POST /sign-offs/:id/reject',
      example: { id: 'A1', note: 'The second page is missing.' },
      run: async (tx, { id, note }) => {
        const done = await reject(tx, await requestById(tx, id), note)
        return { ...(await finishedAnswer(tx, done)), decided: formatId('request', id), note }
      },
    }),
    'fresh',
  ),
}
