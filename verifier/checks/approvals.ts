import { secp256k1 } from '@noble/curves/secp256k1'
import { keccak_256 } from '@noble/hashes/sha3'
import { oneLine } from '../../src/lib/text.ts'
import { fromHex, toHex, utf8 } from '../bytes.ts'
import type { AskContract } from '../chain.ts'
import { bad, type Finding, judged, ok, unchecked } from '../finding.ts'
import type { Receipt } from '../receipt.ts'
import { checkPasskey } from './passkey.ts'

/** EIP-191, version 0x45. */
const hashOf = (message: string): Uint8Array => {
  const bytes = utf8(message)
  return keccak_256(Uint8Array.from([...utf8(`\x19Ethereum Signed Message:\n${bytes.length}`), ...bytes]))
}

/** The lowercase address whose key signed. Undefined if no key produced the signature. */
const recover = (message: string, signature: string): string | undefined => {
  const bytes = fromHex(signature.slice(2))
  if (bytes?.length !== 65) return undefined
  try {
    const parity = (bytes[64] ?? 0) % 27
    const compact = secp256k1.Signature.fromCompact(bytes.subarray(0, 64)).addRecoveryBit(parity)
    const key = compact.recoverPublicKey(hashOf(message)).toRawBytes(false)
    return `0x${toHex(keccak_256(key.subarray(1)).subarray(-20))}`
  } catch {
    return undefined
  }
}

type Signed = { message: string | null; signature: string; signer: string | null }

const checkContract = async (
  check: string,
  signer: string,
  { message, signature }: Signed,
  ask: AskContract,
): Promise<Finding> => {
  const [, chainId, address = ''] = signer.split(':')
  const answer = await ask(Number(chainId), address, hashOf(message ?? ''), signature)
  if (answer === undefined)
    return unchecked(check, `${signer} is a contract wallet: only its chain can confirm its signature, and none was asked`)
  if (answer === 'accepts') return ok(check, `${signer} accepts it, as its chain says now`)
  if (answer === 'refuses') return bad(check, `${signer} does not accept it now: it never did, or its owners have changed since`)
  return unchecked(check, `${signer} is a contract wallet: ${answer.unknown}`)
}

const checkSignature = async (check: string, signed: Signed, ask: AskContract): Promise<Finding> => {
  const { message, signature, signer } = signed
  // A contract is named with its chain. Only the contract can say whether it accepts the signature.
  if (signer?.startsWith('eip155:')) return checkContract(check, signer, signed, ask)
  const recovered = recover(message ?? '', signature)
  const good = recovered !== undefined && recovered === signer?.toLowerCase()
  return judged(check, good, `signed by ${signer}`, `${signer} did not sign this text`)
}

type Decision = NonNullable<Receipt['approval']>['decisions'][number]

const referenceLabel = 'Account reference: '

/** Whether the signed text names this account at the paybill, which is a part of the payee, or none. */
const namesReference = (lines: readonly string[], reference: string | null): boolean => {
  const named = lines.filter((line) => line.startsWith(referenceLabel))
  return reference === null ? named.length === 0 : named.length === 1 && named[0] === referenceLabel + oneLine(reference)
}

/** Whether the signed text describes this payment. */
const checkMessage = ({ payment, approval, beneficiary, batch }: Receipt, decision: Decision): Finding => {
  const check = `text signed by ${decision.account_id}`
  const lines = (decision.message ?? '').split('\n')
  const present = new Set(lines)
  const versions = payment.decision.policy_versions.map(({ id, version }) => `${id}@${version}`)
  const subject = batch
    ? [`Batch: ${batch.id}`, `Payments: ${batch.items_count}`, `Merkle root: ${batch.merkle_root}`]
    : [
        `Payment: ${payment.id}`,
        `Amount in minor units: ${payment.amount_minor} ${payment.currency}`,
        `Destination: ${beneficiary.payment_rail} ${beneficiary.destination_mask}`,
        `Policies: ${versions.join(' ') || 'none'}`,
      ]
  const needed = [`Decision: ${decision.decision}`, `Approval: ${approval?.id}`, ...subject]
  const missing = needed.find((line) => !present.has(line))
  if (missing !== undefined) return bad(check, `it lacks "${missing}"`)
  if (!batch && !namesReference(lines, payment.account_reference)) return bad(check, 'it names another account reference')
  const verbatim = decision.message === approval?.messages[decision.decision]
  // A registered name that arrives later replaces the text, and voids the decisions on the earlier one.
  if (!verbatim && decision.voided_at !== null) return ok(check, 'void: an earlier text')
  return judged(
    check,
    verbatim,
    batch ? 'it names the batch and the root over its items' : 'it names this payment, amount, destination and these policies',
    'it is not the text that was to be signed',
  )
}

/** Each account's newest decision counts, unless it was voided. */
const standing = (decisions: readonly Decision[]): Decision[] => {
  const newest = new Map(decisions.map((decision) => [decision.account_id, decision]))
  return [...newest.values()].filter(({ voided_at }) => voided_at === null)
}

const sentStatuses = ['processing', 'succeeded', 'unknown', 'returned']

/** Whether a decision has a signature. */
const isSigned = ({ signature }: Decision): boolean => signature !== null

const checkQuorum = ({ payment, approval, batch }: Receipt): Finding => {
  const check = 'approvals'
  const { outcome, required_approvals: needed } = payment.decision
  const required = Math.max(needed, approval?.required_approvals ?? 0)
  // A payment in a batch waits for the batch's approval even if it needs none itself.
  if (outcome === 'allow' && !batch)
    return judged(check, approval === null, 'none was needed', 'it has an approval that no rule asked for')
  if (outcome === 'allow' && !approval) return ok(check, 'none was needed')
  if (!approval) return bad(check, `${required} were needed, and the receipt has none`)
  const signedOnly = [payment.decision.approval_proof, approval.approval_proof].includes('signature')
  const yes = new Set(
    standing(approval.decisions)
      .filter((given) => given.decision === 'approve' && (!signedOnly || isSigned(given)))
      .map(({ account_id }) => account_id),
  )
  if (approval.separation_of_duties) yes.delete(payment.initiated_by.account_id)
  if (!sentStatuses.includes(payment.status)) return ok(check, `${yes.size} of ${required}; the payment was not sent`)
  const says = `${yes.size} of ${required} needed${signedOnly ? ', all signed' : ''}`
  return judged(check, yes.size >= required, says, `${says}: too few`)
}

/** Whether the stated way of deciding matches the proof in the decision. */
const isConsistent = ({ via, signature, passkey }: Decision): boolean =>
  (via === 'credential') === (signature === null) && (via === 'passkey') === (passkey !== null)

export const checkApprovals = async (receipt: Receipt, ask: AskContract): Promise<Finding[]> => {
  const { approval, mandate } = receipt
  const findings = [checkQuorum(receipt)]
  for (const decision of approval?.decisions ?? []) {
    const { account_id: account, message, signature, signer, passkey, via } = decision
    if (!isConsistent(decision)) {
      findings.push(bad(`decision of ${account}`, `it has not what a decision by ${via} has`))
      continue
    }
    if (signature === null) {
      const why = 'made with a session or a key: the service vouches for it, no signature of its own proves it'
      findings.push(unchecked(`decision of ${account}`, why))
      continue
    }
    const check = `signature of ${account}`
    findings.push(
      passkey
        ? await checkPasskey(check, { message, signature, passkey })
        : await checkSignature(check, { message, signature, signer }, ask),
    )
    if (via === 'signature' || via === 'passkey') findings.push(checkMessage(receipt, decision))
    if (via === 'mandate' && (message !== mandate?.message || signer !== mandate?.signer))
      findings.push(bad(`decision of ${account}`, 'it is not by the mandate in the receipt'))
  }
  if (mandate) findings.push(await checkSignature(`mandate ${mandate.id}`, mandate, ask))
  return findings
}
