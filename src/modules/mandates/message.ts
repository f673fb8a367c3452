import { sha256 } from '../../auth/secrets.ts'
import type { Address } from '../../auth/wallet.ts'
import type { Config } from '../../config.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { isoTime } from '../../lib/clock.ts'
import type { FieldError } from '../../lib/errors.ts'
import { formatId } from '../../lib/ids.ts'
import { limitLines } from '../../lib/mandate-limits-text.ts'
import { displayAmount, formatMinor, minor } from '../../lib/money.ts'
import { isolated } from '../../lib/text.ts'
import type { MandateRow } from './queries.ts'
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

const domainOf = (config: Config): string => new URL(config.publicUrl).host

/**
 * What a wallet holder reads and signs (EIP-191 text). Only the server writes it: equal terms give the same text, so it is built again to
 * check a signature and never taken from a request.
 */
export const mandateMessage = (
  config: Config,
  {
    address,
    terms,
    digest,
    nonce,
    signBy,
  }: { address: Address; terms: MandateTerms; digest: string; nonce: string; signBy: Date },
): string => {
  const { workspaceId, grantId, validFrom } = terms
  const { what, who, until } = limitLines(
    {
      ...terms,
      beneficiaries: terms.beneficiaryIds.map((id) => formatId('beneficiary', id)),
      grant: grantId ? formatId('grant', grantId) : null,
    },
    config.CURRENCY,
  )
  return [
    `${domainOf(config)} asks you to agree to payments in advance.`,
    '',
    'By signing you approve every payment within these limits, without being asked again, until the mandate ends or you revoke it.',
    '',
    `Description: ${isolated(terms.description)}`,
    ...what,
    `Workspace: ${workspaceId ? formatId('workspace', workspaceId) : 'your personal workspace'}`,
    who,
    `Valid from: ${validFrom ? isoTime(validFrom) : 'the moment it is created'}`,
    until,
    '',
    'Purpose: intent mandate',
    `Wallet: ${address}`,
    `Terms digest: ${digest}`,
    `Nonce: ${nonce}`,
    `Sign before: ${isoTime(signBy)}`,
  ].join('\n')
}

/** Needs no nonce: a mandate is revoked once, and a second revocation changes nothing. */
export const revocationMessage = (config: Config, mandate: MandateRow): string =>
  [
    `${domainOf(config)} asks you to revoke an intent mandate.`,
    '',
    'By signing you end it: no further payment is approved by it.',
    '',
    `Description: ${isolated(mandate.description)}`,
    `At most in total: ${displayAmount(mandate.maxTotalMinor, config.CURRENCY)} (${mandate.maxTotalMinor} minor units)`,
    `Valid until: ${isoTime(mandate.expiresAt)}`,
    '',
    'Purpose: intent mandate revocation',
    `Mandate: ${formatId('mandate', mandate.id)}`,
    `Signed by: ${mandate.signer}`,
    `Terms digest: ${mandate.termsDigest}`,
  ].join('\n')
