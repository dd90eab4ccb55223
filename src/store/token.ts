import { type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** A token as people see it: everything but its hash. */
export type TokenView = Omit<Row<'tokens'>, 'hash' | 'account'> & {
  agent_name: string
  last_used_at: number | null
}

/** The tokens of the account, newest first, with their last use. */
export function tokensOf(tx: ReadTx): Promise<TokenView[]> {
  return sqlOf(tx)
    .selectFrom('tokens as t')
    .innerJoin('agents as g', (join) =>
      join.onRef('g.account', '=', 't.account').onRef('g.id', '=', 't.agent'),
    )
    .leftJoin('token_use as u', (join) =>
      join.onRef('u.account', '=', 't.account').onRef('u.token', '=', 't.id'),
    )
    .select(['t.id', 't.agent', 't.prefix', 't.scopes', 't.presets', 't.projects', 't.expires_at'])
    .select(['t.revoked_at', 't.created_at', 't.created_by', 'g.name as agent_name', 'u.last_used_at'])
    .where('t.account', '=', tx.account)
    .orderBy('t.id', 'desc')
    .limit(500)
    .execute()
}

/** Writes down when tokens were last used. Apart from the account's content; nobody but people reads it. */
export async function touchTokens(
  tx: WriteTx,
  uses: readonly { token: number; at: number }[],
): Promise<void> {
  for (const { token, at } of uses) {
    await sqlOf(tx)
      .insertInto('token_use')
      .values({ account: tx.account, token, last_used_at: at })
      .onConflict((oc) => oc.columns(['account', 'token']).doUpdateSet({ last_used_at: at }))
      .execute()
  }
}
