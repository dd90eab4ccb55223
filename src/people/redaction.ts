import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { MARK, REDACTABLE } from '../model/redaction.ts'
import { redact } from '../store/redact.ts'
import { destroy } from '../tools/tool.ts'
import { forPeople } from './operation.ts'

/** Characters of the note. */
const NOTE_LIMIT = 500

export const redactionOperations = {
  redact: forPeople(
    'owner',
    destroy({
      title: 'Redact a leaked secret',
      does: `Takes a text out of everything that was written in the account: tasks, comments, runs, artifacts, files that are text, notes, names, stored answers and the log; ${MARK} stands in its place. It has to be given exactly, and is kept nowhere. What copies of the data hold, such as backups, stays.`,
      toolset: 'trash',
      input: z.strictObject({
        // What is wrong with them is said below, in words that never repeat them.
        text: z
          .string()
          .catch('')
          .describe(`Exactly as it was written, ${REDACTABLE.least} to ${REDACTABLE.most} characters.`),
        note: z.string().optional().catch(undefined).describe('Why, for the log. Not the text itself.'),
      }),
      output: z.looseObject({ redacted: z.number(), places: z.record(z.string(), z.number()) }),
      http: 'POST /redactions',
      example: { text: 'Export done, 412 addresses.', note: 'An address list was pasted.' },
      run: async (tx, { text, note }) => {
        const characters = [...text].length
        if (characters < REDACTABLE.least || characters > REDACTABLE.most) {
          throw invalid(
            `The text has ${characters} characters; ${REDACTABLE.least} to ${REDACTABLE.most} are allowed.`,
            {
              next: 'Give the secret itself and nothing around it. It need not be whole, as long as nothing of worth is left.',
            },
          )
        }
        if ((note?.length ?? 0) > NOTE_LIMIT)
          throw invalid(`The note is longer than ${NOTE_LIMIT} characters.`)
        if (MARK.includes(text.toLowerCase()))
          throw invalid('This is what stands where something was taken out.')
        const { places, left } = await redact(tx, text, note)
        const redacted = Object.values(places).reduce((sum, rows) => sum + rows, 0)
        return { redacted, places, ...(left.length > 0 ? { left, next: LEFT } : {}) }
      },
    }),
    'fresh',
  ),
}

const LEFT =
  'These files hold the text and are no text themselves, so they were left as they are: delete and purge them.'
