import type { Db } from '../../../db/client.ts'
import type { Uuid } from '../../../lib/ids.ts'

/** The requester and the workspace, as the text that is signed names them. */
export type RequestedBy = { requester: string; workspace: string }

type Row = { workspace: string; display_name: string | null; wallet: string | null; label: string | null }

const names = `
  select w.name as workspace, a.display_name, g.label,
    (select i.subject from identities i where i.account_id = a.id and i.provider = 'wallet' order by i.id limit 1) as wallet
  from workspaces w join accounts a on a.id = $2 left join grants g on g.id = $3 where w.id = $1`

/**
 * Anyone with an approval's id may read its text without signing in. So it shows the name that the account's owner chose, else a wallet
 * address, which is public anyway; never an e-mail.
 */
const personOf = ({ display_name: name, wallet }: Row): string =>
  name ?? (wallet ? `${wallet.slice(0, 6)}…${wallet.slice(-4)}` : 'a member of the workspace')

export const readRequestedBy = async (
  db: Db,
  payment: { workspaceId: Uuid; initiatorAccountId: Uuid; grantId: Uuid | null },
): Promise<RequestedBy> => {
  const [row] = await db.query<Row>(names, [payment.workspaceId, payment.initiatorAccountId, payment.grantId])
  if (!row) throw new Error('a payment has a workspace and an initiator')
  const person = personOf(row)
  return { workspace: row.workspace, requester: row.label === null ? person : `${row.label}, an agent of ${person}` }
}
