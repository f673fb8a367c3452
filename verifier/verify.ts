import { type AskContract, createAskContract } from './chain.ts'
import { checkApprovals } from './checks/approvals.ts'
import { checkBatch } from './checks/batch.ts'
import { checkDecision, checkPolicies } from './checks/decision.ts'
import { checkLedger } from './checks/ledger.ts'
import { checkLog } from './checks/log.ts'
import { checkMandate } from './checks/mandate.ts'
import { checkJws } from './checks/signature.ts'
import { bad, type Finding, judged, ok, unchecked } from './finding.ts'
import type { PublishedKey, Receipt } from './receipt.ts'

/**
 * `issuer`: the service that owns the keys. If absent, the receipt's own issuer is reported as unchecked. `ask`: queries the
 * chains of contract wallets. If absent, no chain is queried.
 */
export type VerifyOptions = { keys: readonly PublishedKey[]; issuer?: string; ask?: AskContract }

const isReceipt = (value: unknown): value is Receipt =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  value.type === 'payment_receipt' &&
  'version' in value &&
  value.version === 2

const checkIssuer = ({ issuer }: Receipt, expected: string | undefined): Finding =>
  expected === undefined
    ? unchecked('issuer', `it says ${issuer}; whether these keys are theirs was not asked`)
    : judged('issuer', issuer === expected, `issued by ${expected}`, `it says ${issuer}, and the keys are of ${expected}`)

const checkHead = async ({ issuer, audit: { head } }: Receipt, keys: readonly PublishedKey[]): Promise<Finding[]> => {
  if (!head) return []
  const { jws, ...stated } = head
  const document = { issuer, ...stated }
  // The service signs the newest head each time it returns it.
  const signed = { jws, document, type: 'audit-log-head', at: stated.sealed_at, signedLater: true } as const
  return [await checkJws('head of the log', signed, keys)]
}

const checkPayee = ({ payment, beneficiary }: Receipt): Finding => {
  const { display_name: name, payment_rail: rail, destination_mask: mask } = beneficiary
  const good = payment.beneficiary_id === beneficiary.id && payment.payment_rail === rail
  return judged('payee', good, `${name}, ${rail} ${mask}`, 'the payee is not the payment’s')
}

/**
 * Runs all checks of a receipt. The receipt is valid if none is `bad`. An `unchecked` result proves nothing.
 * Makes no requests except to the chains that the caller named. Callers must get the keys from a source that they trust.
 */
export const verifyReceipt = async (
  receipt: unknown,
  { keys, issuer, ask = createAskContract(new Map()) }: VerifyOptions,
): Promise<Finding[]> => {
  if (!isReceipt(receipt)) return [bad('receipt', 'this is not a payment receipt of version 2')]
  const { jws, ...document } = receipt
  const signature = await checkJws('signature', { jws, document, type: 'payment-receipt', at: receipt.issued_at }, keys)
  const first = [signature, checkIssuer(receipt, issuer)]
  // An unsigned document may have any shape, so the other checks could fail while reading its fields.
  if (signature.result !== 'ok') return first
  const { status, amount_minor: amount, currency } = receipt.payment
  return [
    ...first,
    checkPayee(receipt),
    checkPolicies(receipt),
    checkDecision(receipt),
    ...(await checkApprovals(receipt, ask)),
    ...checkMandate(receipt),
    ...checkBatch(receipt),
    checkLedger(receipt),
    ...(await checkHead(receipt, keys)),
    ...checkLog(receipt),
    ok('payment', `${status}: ${amount} minor units of ${currency}, as of ${receipt.issued_at}`),
  ]
}

export const holds = (findings: readonly Finding[]): boolean => findings.every(({ result }) => result !== 'bad')
