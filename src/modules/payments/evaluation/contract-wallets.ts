import { currentDecisions, isContractSigned } from '../../../auth/authority-sql.ts'
import type { ChainAnswer, ContractWallets } from '../../../auth/contract-wallet.ts'
import { parseAddress } from '../../../auth/wallet.ts'
import type { Db } from '../../../db/client.ts'
import { readTogether } from '../../../db/together.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { parseWalletName } from '../../../lib/wallet-name.ts'
import type { Authority } from './authority.ts'

/** What the chains of contract wallets say now about what these signed, by decision. */
export type ChainAnswers = ReadonlyMap<Uuid, ChainAnswer>

/** Without the approvals of contract wallets that their chains did not confirm. */
export const confirmedBy = (authority: Authority, answers: ChainAnswers): Authority => {
  const { approvers, signers, contractDecisions, contractSigners } = authority
  const unconfirmed = contractSigners.filter((_, index) => answers.get(contractDecisions[index] ?? '') !== 'valid')
  const holds = (accountId: Uuid) => !unconfirmed.includes(accountId)
  return { ...authority, approvers: approvers.filter(holds), signers: signers.filter(holds) }
}

type ContractSigned = { id: Uuid; signer: string; signature: string; message: string }

const readContractSigned = readTogether<ContractSigned, { approval: 'uuid'; workspace: 'uuid' }>(
  'approvals.contract_signed',
  { approval: 'uuid', workspace: 'uuid' },
  `select d.id, d.signer, d.signature, d.message from approvals a cross join lateral ${currentDecisions('a.id')} as d
   where a.id = key.approval and (key.workspace is null or a.workspace_id = key.workspace)
     and d.decision = 'approve' and ${isContractSigned('d')}`,
  'record',
)

/**
 * Asks the chains of the contract wallets that approved whether they still stand behind their signatures: their owners may have changed since.
 * Called before a transaction that uses these approvals, because a chain takes time. Other approvals cost no query to a chain, nor does one of
 * another workspace than the given one.
 */
export const askChains = async (
  { db, contractWallets }: { db: Db; contractWallets: ContractWallets },
  approvalId: Uuid,
  workspaceId: Uuid | null = null,
): Promise<ChainAnswers> => {
  const decisions = await readContractSigned(db, { approval: approvalId, workspace: workspaceId })
  const answers = decisions.map(async ({ id, signer, signature, message }) => {
    const wallet = parseWalletName(signer)
    const address = wallet && parseAddress(wallet.address)
    if (!address || wallet.chainId === null) throw new Error('a contract wallet is not named by its chain')
    return [id, await contractWallets.query({ chainId: wallet.chainId, address, message, signature })] as const
  })
  return new Map(await Promise.all(answers))
}
