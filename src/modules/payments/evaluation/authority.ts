import {
  currentDecisions,
  grantBehind,
  isContractSigned,
  isCounted,
  isSigned,
  mayStillRequest,
  requesterStop,
} from '../../../auth/authority-sql.ts'
import { type ChainAnswer, type ContractWallets, verifyContractSigner } from '../../../auth/contract-wallet.ts'
import { type Db, statement } from '../../../db/client.ts'
import { prepareText } from '../../../db/prepare.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { assertPresent } from '../../../lib/lists.ts'

/** A temporary stop of the requester: its account or a grant behind it is frozen, or one of its capabilities is disabled. */
export type RequesterStop = 'account' | 'payments' | 'api_keys' | 'oauth' | 'grant'

export type Authority = {
  /** The requesting grant and its ancestors, root first. */
  lineage: Uuid[]
  /** The grant behind the requester's key or session; null: none. */
  origin: Uuid | null
  mayRequest: boolean
  stop: RequesterStop | null
  /** `required`: approvals requested. `approvers`: accounts whose approval counts now. `signers`: approvers that signed. */
  required: number
  approvers: Uuid[]
  signers: Uuid[]
  signedOnly: boolean
  /** Approvals signed by contract wallets, and their accounts in the same order. */
  contractDecisions: Uuid[]
  contractSigners: Uuid[]
}

/** Whether enough approvals count: as many as were originally requested, even if current rules require fewer. */
export const holdsApprovals = ({ signedOnly, signers, approvers, required }: Authority): boolean =>
  (signedOnly ? signers : approvers).length >= required

const origin = grantBehind('p', 'a.initiating_grant_id')

const authorityStatement = statement('payments.authority', 'record')`
  select p.id, array_remove(g.ancestor_ids || g.id, null) as lineage, ${origin} as origin, ${mayStillRequest('p', '$2')} as "mayRequest",
     ${requesterStop('r', 'g', origin)} as stop,
     coalesce(a.required_approvals, 0) as required, coalesce(a.approval_proof = 'signature', false) as "signedOnly",
     coalesce(given.approvers, '{}') as approvers, coalesce(given.signers, '{}') as signers,
     coalesce(given.contract_decisions, '{}') as "contractDecisions", coalesce(given.contract_signers, '{}') as "contractSigners"
   from payments p cross join lateral (select * from accounts r where r.id = p.initiator_account_id) as r
     left join grants g on g.id = p.grant_id left join approvals a on a.id = p.approval_id
     cross join lateral (
       select array_agg(d.account_id) as approvers, array_agg(d.account_id) filter (where ${isSigned('d')}) as signers,
         array_agg(d.id) filter (where ${isContractSigned('d')}) as contract_decisions,
         array_agg(d.account_id) filter (where ${isContractSigned('d')}) as contract_signers
       from ${currentDecisions('a.id')} as d where d.decision = 'approve' and ${isCounted('d', 'p')}) as given
   where p.id = any($1::uuid[])`

/** Reads the current authority behind payments. Lock the owning accounts before acting on it: most changes of authority do. */
export const readAuthority = async (db: Db, payments: readonly { id: Uuid }[], at: Date) => {
  const rows = await db.query<Authority & { id: Uuid }>(authorityStatement, [payments.map(({ id }) => id), at])
  const byId = new Map(rows.map((row) => [row.id, row]))
  return (paymentId: Uuid): Authority => assertPresent(byId.get(paymentId), 'a payment that must exist is missing')
}

/** The chain's current answer about each contract wallet's signature, by decision id. */
export type ChainAnswers = ReadonlyMap<Uuid, ChainAnswer>

/** The authority without the contract wallets' approvals that their chains did not confirm. */
export const withoutUnconfirmed = (authority: Authority, answers: ChainAnswers): Authority => {
  const { approvers, signers, contractDecisions, contractSigners } = authority
  const unconfirmed = contractSigners.filter((_, index) => answers.get(contractDecisions[index] ?? '') !== 'valid')
  const holds = (accountId: Uuid) => !unconfirmed.includes(accountId)
  return { ...authority, approvers: approvers.filter(holds), signers: signers.filter(holds) }
}

const contractSigned = prepareText<{ id: Uuid; signer: string; signature: string; message: string }>()(
  'approvals.contract_signed',
  { approval: 'uuid', workspace: 'uuid' },
  `select d.id, d.signer, d.signature, d.message from approvals a cross join lateral ${currentDecisions('a.id')} as d
   where a.id = key.approval and (key.workspace is null or (a.workspace_id = key.workspace and a.status = 'pending'))
     and d.decision = 'approve' and ${isContractSigned('d')}`,
  'record',
)

/**
 * Asks the chains whether the approving contract wallets still accept their signatures, because owners may change. Runs before
 * the transaction, because chains are slow. With a workspace, queries only for an approval that is pending in it.
 */
export const askChains = async (
  { db, contractWallets }: { db: Db; contractWallets: ContractWallets },
  approvalId: Uuid,
  workspaceId: Uuid | null = null,
): Promise<ChainAnswers> => {
  const decisions = await db.run(contractSigned, { approval: approvalId, workspace: workspaceId })
  const answers = decisions.map(async ({ id, signer, signature, message }) => {
    const answer = await verifyContractSigner(contractWallets, { signer, message, signature })
    return [id, assertPresent(answer, 'a contract wallet is not named by its chain')] as const
  })
  return new Map(await Promise.all(answers))
}
