import { failureCodes, failureSentence } from '../lib/failure-codes.ts'
import type { RuleName } from '../policy/finding.ts'

/**
 * Every rule that can occur in a decision's trace, with the question that it answers. The engine's own first, then the checks before it.
 */
const engineRules: Readonly<Record<RuleName, string>> = {
  payments: 'The account may make payments at all.',
  per_payment_limit: 'One payment is at most this much.',
  daily_limit: 'The payments of the day in the time zone of the workspace add up to at most this much.',
  monthly_limit: 'The payments of the month add up to at most this much.',
  approval_threshold: 'From this amount on an approval is needed.',
  required_approval_count: 'So many people have to agree to a payment of any amount.',
  payment_types: 'The grant allows this type of payment or this rail.',
  beneficiary_ids: 'The grant allows this beneficiary.',
  mandate_status: 'The mandate is active.',
  mandate_window: 'The mandate holds at this time.',
  mandate_workspace: 'The mandate covers this workspace.',
  mandate_initiator: 'The mandate covers the account that pays.',
  mandate_payment_types: 'The mandate covers this type of payment or this rail.',
  mandate_beneficiary_ids: 'The mandate covers this beneficiary.',
  mandate_per_payment: 'One payment under the mandate is at most this much.',
  mandate_total: 'All payments under the mandate add up to at most this much.',
  mandate_max_payments: 'At most so many payments are made under the mandate.',
  mandate_signer: 'The signer of the mandate counts as one approval.',
  possible_duplicate: 'A payment of the same amount and reference was made to the same payee a short time ago.',
  eligible_approvers: 'There are as many people who may approve as are needed.',
}

const preconditions = {
  workspace_frozen: 'The workspace is not frozen.',
  account_frozen: 'The owning account is not frozen.',
  grant_frozen: 'The grant and those above it are not frozen.',
  beneficiary_frozen: 'Payments to the beneficiary are not stopped.',
  invalid_token: 'The grant of the credential still lives.',
  conflict: 'The beneficiary is not archived.',
  capability_disabled: 'The account of the caller may make payments.',
  provider_not_configured: 'This deployment has the rail.',
  amount_minor: 'The rail moves this amount.',
  account_reference: 'The reference is there where it is required, and one that the rail takes.',
  payment_type: 'The type does not name another rail.',
} as const

export const rules: Readonly<Record<string, string>> = { ...engineRules, ...preconditions }

export const failureSentences: Readonly<Record<string, string>> = Object.fromEntries(
  failureCodes.map((code) => [code, failureSentence(code)]),
)
