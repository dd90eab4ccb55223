import type { Cases } from '../cases.ts'
import { approvalCases } from './approval.ts'
import { artifactCases } from './artifact.ts'
import { calendarCases } from './calendar.ts'
import { commentCases } from './comment.ts'
import { contextCases } from './context.ts'
import { dependencyCases } from './dependency.ts'
import { labelCases } from './label.ts'
import { meCases } from './me.ts'
import { projectCases } from './project.ts'
import { questionCases } from './question.ts'
import { runCases } from './run.ts'
import { savedViewCases } from './saved-view.ts'
import { searchCases } from './search.ts'
import { stepCases } from './step.ts'
import { taskCases } from './task.ts'
import { taskEditCases } from './task-edit.ts'
import { taskListCases } from './task-list.ts'
import { trashCases } from './trash.ts'
import { workCases } from './work.ts'

/** The cases of every tool; a tool without five of them fails the proof. */
export const CASES: Cases = {
  ...meCases,
  ...searchCases,
  ...approvalCases,
  ...questionCases,
  ...calendarCases,
  ...contextCases,
  ...taskCases,
  ...taskListCases,
  ...taskEditCases,
  ...workCases,
  ...runCases,
  ...artifactCases,
  ...commentCases,
  ...dependencyCases,
  ...labelCases,
  ...projectCases,
  ...savedViewCases,
  ...stepCases,
  ...trashCases,
}
