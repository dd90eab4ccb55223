import { expect, it } from 'vitest'
import { AppError, conflict, notFound } from '../model/error.ts'
import { inPeoplesWords } from './words.ts'

it('keeps what is for people, and says what a page can do in place of the name of a tool', () => {
  const gone = notFound('There is no request A9.', { next: 'list_approvals shows them all.' })
  expect(inPeoplesWords(gone)).toBe(
    'There is no request A9. It may have been removed for good. The first page shows what waits for you.',
  )
  const old = conflict('The form is older than 15 minutes.', { next: 'Open the page again.' })
  expect(inPeoplesWords(old)).toBe('The form is older than 15 minutes. Open the page again.')
  const role = new AppError('people_only', 'sign_off needs the role member; yours is viewer.', {
    next: 'Ask a member of the account.',
  })
  expect(inPeoplesWords(role)).toBe('Ask a member of the account.')
  const session = new AppError('people_only', 'Refused.', { next: 'Send the Origin header of this site.' })
  expect(inPeoplesWords(session)).toBe('Refused. Your role in this account does not allow it. Ask its owner.')
})
