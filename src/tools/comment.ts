import { z } from 'zod'
import { formatId, formatIdOr } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
import {
  commentById,
  commentsOf,
  editComment,
  insertComment,
  storedComment,
  trashComment,
} from '../store/comment.ts'
import type { ReadTx } from '../store/handle.ts'
import { LOOP } from '../store/loop.ts'
import { shownIds } from '../store/sight.ts'
import type { Row } from '../store/tables.ts'
import { taskById } from '../store/task.ts'
import { expectedVersion, idempotencyKey, idOf, page, taskId, text } from './fields.ts'
import { destroy, read, write } from './tool.ts'
import { listAnswer, moment, sparse, start } from './view.ts'

const stored = z.looseObject({ id: z.string(), task: z.string(), version: z.int() })

/** How much of a comment a list shows, and how much a write repeats. */
const SHOWN = { list: 2000, echo: 6000 }

export const commentTools = {
  list_comments: read({
    title: 'List comments',
    does: 'A task’s comments, newest first, each with author, kind of author and origin.',
    toolset: 'discussion',
    noun: 'task',
    input: z.strictObject({ task_id: taskId, order: z.enum(['newest', 'oldest']).optional(), ...page }),
    output: z.looseObject({ showing: z.int(), comments: z.array(z.looseObject({ id: z.string() })) }),
    http: 'GET /tasks/:task_id/comments',
    example: { task_id: 'T2' },
    run: async (tx, { task_id, order, ...page }) => {
      await taskById(tx, task_id)
      const found = await commentsOf(tx, task_id, order ?? 'newest', page)
      const name = await partyNames(tx)
      const shown = await shownIds(
        tx,
        found.rows.map((comment) => comment.origin),
      )
      return listAnswer(
        tx,
        found,
        'comments',
        found.rows.map((comment) => {
          const text = start(comment.text, SHOWN.list)
          const id = formatId('comment', comment.id)
          return sparse({
            id,
            material: text.text,
            length: text.total,
            more: text.total && `get_full_text {"id":"${id}","offset":${text.text.length}}`,
            author: name(comment.author),
            author_kind: comment.author.startsWith('U') ? 'person' : 'agent',
            origin: shown(comment.origin),
            reply_to: formatIdOr('comment', comment.reply_to),
            at: moment(comment.created_at),
            edited: comment.version > 1 ? moment(comment.updated_at) : undefined,
            version: comment.version,
          })
        }),
      )
    },
  }),

  comment_on_task: write({
    title: 'Comment on a task',
    does: 'Tell people and agents something on a task; they are notified, @name or @G1 as well. Need an answer: ask_question.',
    toolset: 'discussion',
    noun: 'task',
    input: z.strictObject({
      task_id: taskId,
      text: text(LIMITS.comment),
      reply_to: idOf('comment').optional(),
      idempotency_key: idempotencyKey,
    }),
    output: stored,
    http: 'POST /tasks/:task_id/comments',
    example: { task_id: 'T2', text: '@Ana the certificate is ordered.' },
    run: async (tx, { task_id, text, reply_to }) => {
      const task = await taskById(tx, task_id)
      const said = await insertComment(tx, task, { text, replyTo: reply_to })
      const name = await partyNames(tx)
      return {
        ...(await echo(tx, said.comment)),
        notified: said.notified.map(name),
        ...(said.unknown.length > 0 ? { nobody_called: said.unknown } : {}),
        ...(said.twin === undefined ? {} : { likely_duplicate_of: formatId('comment', said.twin) }),
        ...(said.damped
          ? {
              damped: true,
              next: `You and ${name(said.damped)} have answered each other more than ${LOOP.rounds} times in ${LOOP.ms / 60_000} minutes, so no agent was notified. Go on with the work, or ask_question.`,
            }
          : {}),
      }
    },
  }),

  update_comment: destroy({
    title: 'Update a comment',
    does: 'Change your own comment; the old text stays in the history. Notifies nobody.',
    toolset: 'discussion',
    noun: 'comment',
    convergent: true,
    input: z.strictObject({
      id: idOf('comment'),
      text: text(LIMITS.comment),
      expected_version: expectedVersion,
    }),
    output: stored,
    http: 'PATCH /comments/:id',
    example: { id: 'C1', text: 'The certificate is ordered and paid.' },
    run: async (tx, { id, text, expected_version }) => {
      const comment = await commentById(tx, id)
      await taskById(tx, comment.task)
      const edited = await editComment(tx, comment, text, expected_version)
      return { ...(await echo(tx, edited.comment)), ...(edited.changed ? {} : { already: true }) }
    },
  }),

  delete_comment: destroy({
    title: 'Delete a comment',
    does: 'Move your own comment to the Trash.',
    toolset: 'discussion',
    noun: 'comment',
    convergent: true,
    input: z.strictObject({ id: idOf('comment') }),
    output: z.looseObject({ id: z.string(), trash: z.string() }),
    http: 'DELETE /comments/:id',
    example: { id: 'C1' },
    run: async (tx, { id }) => {
      const comment = await storedComment(tx, id)
      const already = comment.trash !== null
      const trash = formatId('trash', comment.trash ?? (await trashComment(tx, comment)))
      return {
        id: formatId('comment', id),
        task: formatId('task', comment.task),
        trash,
        ...(already ? { already } : { next: `restore_from_trash {"ids":["${trash}"]} brings it back.` }),
      }
    },
  }),
}

/** The comment as stored. */
async function echo(tx: ReadTx, comment: Row<'comments'>): Promise<Record<string, unknown>> {
  const shown = start(comment.text, SHOWN.echo)
  const id = formatId('comment', comment.id)
  return sparse({
    id,
    task: formatId('task', comment.task),
    text: shown.text,
    length: shown.total,
    more: shown.total && `get_full_text {"id":"${id}","offset":${shown.text.length}}`,
    author: (await partyNames(tx))(comment.author),
    reply_to: formatIdOr('comment', comment.reply_to),
    at: moment(comment.created_at),
    version: comment.version,
  })
}
