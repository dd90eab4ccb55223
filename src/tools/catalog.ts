import { activityTools } from './activity.ts'
import { approvalTools } from './approval.ts'
import { artifactTools } from './artifact.ts'
import { calendarTools } from './calendar.ts'
import { commentTools } from './comment.ts'
import { contextTools } from './context.ts'
import { dependencyTools } from './dependency.ts'
import { digestTools } from './digest.ts'
import { fleetTools } from './fleet.ts'
import { labelTools } from './label.ts'
import { meTools } from './me.ts'
import { projectTools } from './project.ts'
import { questionTools } from './question.ts'
import { runTools } from './run.ts'
import { savedViewTools } from './saved-view.ts'
import { searchTools } from './search.ts'
import { stepTools } from './step.ts'
import { taskTools } from './task.ts'
import { taskBulkTools } from './task-bulk.ts'
import { taskEditTools } from './task-edit.ts'
import { taskListTools } from './task-list.ts'
import { trashTools } from './trash.ts'
import { workTools } from './work.ts'

/** Every tool, by name. Adding one to a noun's file is all that it takes: everything else is derived from here. */
export const CATALOG = {
  ...meTools,
  ...digestTools,
  ...activityTools,
  ...searchTools,
  ...approvalTools,
  ...questionTools,
  ...calendarTools,
  ...contextTools,
  ...taskListTools,
  ...taskTools,
  ...taskBulkTools,
  ...taskEditTools,
  ...workTools,
  ...runTools,
  ...artifactTools,
  ...fleetTools,
  ...stepTools,
  ...commentTools,
  ...projectTools,
  ...labelTools,
  ...dependencyTools,
  ...savedViewTools,
  ...trashTools,
}
