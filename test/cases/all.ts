import type { Cases } from '../cases.ts'
import { artifactCases } from './artifact.ts'
import { runCases } from './run.ts'
import { workCases } from './work.ts'
import { meCases } from './me.ts'
import { searchCases } from './search.ts'
import { approvalCases } from './approval.ts'
import { questionCases } from './question.ts'
import { calendarCases } from './calendar.ts'
import { contextCases } from './context.ts'
import { taskCases } from './task.ts'

/** The cases of every tool; a tool without five of them fails the proof. */
export const CASES: Cases = {
  ...meCases,
  ...searchCases,
  ...approvalCases,
  ...questionCases,
  ...calendarCases,
  ...contextCases,
  ...taskCases,
  ...workCases,
  ...runCases,
  ...artifactCases,
}
