import file from '../generated/tools.json' with { type: 'json' }
import type { ToolFile } from './tool-file.ts'

/** The lists as `npm run generate` wrote them. In a module of its own, so that it is loaded only by who needs it. */
export const BUILT_LIST = file as unknown as ToolFile
