import { agentOperations } from './agent.ts'
import { approvalOperations } from './approval.ts'
import { autoOkOperations } from './auto-ok.ts'
import { grantOperations } from './grant.ts'
import { memberOperations } from './member.ts'
import { questionOperations } from './question.ts'
import { redactionOperations } from './redaction.ts'
import { sessionOperations } from './session.ts'
import { sourceOperations } from './source.ts'
import { tokenOperations } from './token.ts'
import { trashOperations } from './trash.ts'

/**
 * Every operation for people only, by name. No MCP list ever carries it and no tool has one of its names: a person's own
 * session is the one way in.
 */
export const PEOPLE_CATALOG = {
  ...approvalOperations,
  ...questionOperations,
  ...autoOkOperations,
  ...agentOperations,
  ...tokenOperations,
  ...grantOperations,
  ...trashOperations,
  ...redactionOperations,
  ...sourceOperations,
  ...sessionOperations,
  ...memberOperations,
}
