import { taskTools } from './task.ts'

/** Every tool, by name. Adding one to a noun's file is all that it takes: everything else is derived from here. */
export const CATALOG = {
  ...taskTools,
}
