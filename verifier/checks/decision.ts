import { decodeUuid } from '../../src/lib/ids.ts'
import { presentDecision } from '../../src/modules/policies/present.ts'
import { evaluate } from '../../src/policy/evaluate.ts'
import { unpackInputs } from '../../src/policy/inputs.ts'
import type { Evaluation } from '../../src/policy/types.ts'
import { bad, type Finding, judged, ok, unchecked } from '../finding.ts'
import type { Receipt } from '../receipt.ts'

const uuidOf = (id: string): string | undefined => decodeUuid(id.slice(id.indexOf('_') + 1))

/** Describes the first input of the decision that differs from this payment. */
const mismatch = ({ payment, audit }: Receipt, { payment: facts, grants }: Evaluation): string | undefined => {
  if (facts.amountMinor !== BigInt(payment.amount_minor)) return 'the amount'
  if (facts.beneficiaryId !== uuidOf(payment.beneficiary_id)) return 'the beneficiary'
  if (facts.workspaceId !== uuidOf(payment.workspace_id)) return 'the workspace'
  if (facts.initiatorAccountId !== uuidOf(payment.initiated_by.account_id)) return 'who asked for it'
  const grant = payment.initiated_by.grant_id
  if ((facts.grantLineage.at(-1) ?? null) !== (grant === null ? null : uuidOf(grant))) return 'the grant'
  if (grants.map(({ id }) => id).join() !== facts.grantLineage.join()) return 'the lineage of grants'
  if (facts.paymentType !== payment.payment_type || facts.rail !== payment.payment_rail) return 'the type or the rail'
  // A payment that needed an approval at `execute_at` was decided again then. That decision has an audit row too.
  const due = payment.execute_at === null ? [] : audit.rows.filter(({ action }) => action === 'payment.create')
  if (![payment.created_at, ...due.map(({ at }) => at)].includes(facts.at.toISOString())) return 'the time'
  return undefined
}

/** Whether every recorded field equals the recomputed value. An earlier version may have recorded fewer fields. */
const agrees = (recorded: unknown, again: unknown): boolean => {
  if (Array.isArray(recorded))
    return Array.isArray(again) && recorded.length === again.length && recorded.every((one, index) => agrees(one, again[index]))
  if (typeof recorded !== 'object' || recorded === null) return recorded === again
  const found = new Map(Object.entries(typeof again === 'object' && again !== null ? again : {}))
  return Object.entries(recorded).every(([name, value]) => agrees(value, found.get(name)))
}

/** Fields that every decision must have. */
const ofEveryDecision = [
  'outcome',
  'required_approvals',
  'separation_of_duties',
  'approval_proof',
  'policy_versions',
  'trace',
] as const
const ofEveryEntry = ['source', 'rule', 'outcome'] as const

/** Ignores the explanation, which is the trace in words that differ between versions. */
const isReached = ({ explanation: _, ...recorded }: Receipt['payment']['decision'], again: unknown): boolean =>
  ofEveryDecision.every((name) => Object.hasOwn(recorded, name)) &&
  (recorded.trace ?? []).every((entry) => ofEveryEntry.every((name) => Object.hasOwn(entry, name))) &&
  agrees(recorded, again)

/** Runs the policy engine again on the recorded inputs. It must reach the same decision by the same rules and numbers. */
export const checkDecision = (receipt: Receipt): Finding => {
  const check = 'decision'
  const { decision_inputs: inputs, payment, policies } = receipt
  if (!inputs) return unchecked(check, 'the receipt has no inputs: it was decided before they were kept')
  try {
    const texts = policies.map(({ document }) => document)
    const evaluation = unpackInputs(inputs, texts)
    const other = mismatch(receipt, evaluation)
    if (other) return bad(check, `${other} of the inputs is not the payment's`)
    const again = presentDecision(evaluate(evaluation), payment.currency)
    if (!isReached(payment.decision, again))
      return bad(check, `the policies and usage in the receipt give ${again.outcome}, not this decision`)
    return ok(check, `the policies and usage in the receipt give ${again.outcome} again, by the same rules`)
  } catch (error) {
    return bad(check, `its inputs cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Whether the receipt contains each policy that decided, in the version that decided. */
export const checkPolicies = ({ payment, policies }: Receipt): Finding => {
  const kept = policies.map(({ id, version }) => `${id}@${version}`).join()
  const decided = payment.decision.policy_versions.map(({ id, version }) => `${id}@${version}`).join()
  const same = policies.every(({ id, version, document }) => document.id === id && document.version === version)
  const says = decided === '' ? 'no policy applied' : decided
  return judged('policies', kept === decided && same, says, 'they are not those that decided')
}
