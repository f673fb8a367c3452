import { sha256 } from '../../auth/secrets.ts'
import type { Address } from '../../auth/wallet.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { isoTime } from '../../lib/clock.ts'
import type { FieldError } from '../../lib/errors.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor, minor } from '../../lib/money.ts'
import type { MandateTerms } from './schema.ts'

/** Terms that contradict each other, or that end before they begin. */
export const termContradictions = (terms: MandateTerms, at: Date): FieldError[] => {
  const { maxTotalMinor, maxPerPaymentMinor, validFrom, expiresAt } = terms
  const problems: FieldError[] = []
  if (maxPerPaymentMinor !== null && maxPerPaymentMinor > maxTotalMinor)
    problems.push({ path: 'terms.max_per_payment_minor', message: 'must not be more than max_total_minor' })
  if (validFrom && validFrom >= expiresAt) problems.push({ path: 'terms.valid_from', message: 'must be before expires_at' })
  if (expiresAt <= at) problems.push({ path: 'terms.expires_at', message: 'must be in the future' })
  return problems
}

/** SHA-256 of the terms' canonical JSON: equal terms have one digest, in any notation. It does not include absent terms. */
export const termsDigest = (terms: MandateTerms): string => {
  const { workspaceId, grantId, maxPerPaymentMinor, maxPayments, beneficiaryIds, paymentTypes, validFrom } = terms
  const canonical = {
    workspace_id: workspaceId ? formatId('workspace', workspaceId) : undefined,
    grant_id: grantId ? formatId('grant', grantId) : undefined,
    description: terms.description,
    max_total_minor: formatMinor(terms.maxTotalMinor),
    max_per_payment_minor: minor(maxPerPaymentMinor) ?? undefined,
    max_payments: maxPayments ?? undefined,
    beneficiary_ids: beneficiaryIds.length > 0 ? beneficiaryIds.map((id) => formatId('beneficiary', id)) : undefined,
    payment_types: paymentTypes.length > 0 ? paymentTypes : undefined,
    valid_from: validFrom ? isoTime(validFrom) : undefined,
    expires_at: isoTime(terms.expiresAt),
  }
  return sha256(canonicalJson(canonical)).toString('hex')
}

/** What a nonce is bound to: these terms, for this wallet to sign. */
export const nonceBinding = (address: Address, digest: string): string => `${address.toLowerCase()}:${digest}`
