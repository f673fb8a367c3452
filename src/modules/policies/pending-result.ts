import { z } from 'zod'
import { sha256 } from '../../auth/secrets.ts'
import { type Db, statement } from '../../db/client.ts'
import { personNameSql } from '../../db/person-names-sql.ts'
import { presenter } from '../../http/presenter.ts'
import { Name } from '../../http/wire.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { daysAfter, isoTime } from '../../lib/clock.ts'
import { catchRefusal, Refusal } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { displayAmount } from '../../lib/money.ts'
import { quoted } from '../../lib/text.ts'
import { changedTerms, ordinaryApprovals } from '../../policy/term-words.ts'
import { findBeneficiaries } from '../beneficiaries/queries.ts'
import type { PolicyRecord } from './queries.ts'
import { type PolicyTerms, policyTerms } from './rules.ts'
import { type Policy, policyInput, StoredChange, TermsOut } from './schema.ts'

// A pending change is stored with its complete resulting terms and the text that confirms them. Both belong to one version of the
// policy. Each new version gives the change a new result, a new text and another 24 hours to object.

export type NamedTerms = PolicyTerms & { name: string }
/** The terms that would result; null: the policy is archived. */
export type Result = NamedTerms | null

/** Merges the requested fields into the policy's current terms. Throws 400 if the resulting terms contradict each other. */
export const resultOf = (change: z.output<typeof StoredChange>, policy: NamedTerms): Result =>
  'status' in change ? null : { ...policyTerms(change, policy), name: change.name ?? policy.name }

const StoredResult = z.strictObject({
  /**
   * Must equal `pendingChangeAt`, to detect an outdated result: a process of an earlier release that renews the change does not
   * write a result.
   */
  asked_at: z.string(),
  /** Whether the text replaces one for an earlier version. */
  renewed: z.boolean(),
  /** Whether the approval count is derived from the other terms. */
  count_implied: z.boolean(),
  terms: z.strictObject({ name: Name, ...policyInput }).nullable(),
})

const presentCopied = presenter(TermsOut)

export const shownApprovers = ({ approverIds }: Pick<PolicyTerms, 'approverIds'>): string[] =>
  (approverIds ?? []).map((id) => formatId('account', id))

const presentTerms = (terms: NamedTerms) => presentCopied(terms, { approver_ids: shownApprovers(terms) })

export type PendingResult = { result: Result; renewed: boolean; message: string }

/** Undefined if this version has no result yet. The change can then neither be confirmed nor take effect. */
export const pendingOf = (record: PolicyRecord): PendingResult | undefined => {
  const { pendingChangeAt, pendingChangeResult, pendingChangeVersion, pendingChangeMessage: message } = record
  if (!pendingChangeAt || pendingChangeResult === null || pendingChangeVersion !== record.version || message === null)
    return undefined
  const { asked_at, renewed, count_implied, terms } = StoredResult.parse(pendingChangeResult)
  if (asked_at !== isoTime(pendingChangeAt)) return undefined
  const count = count_implied ? null : terms?.required_approval_count
  const result = terms && { ...policyTerms({ ...terms, required_approval_count: count }), name: terms.name }
  return { result, renewed, message }
}

type TextNames = {
  currency: string
  workspace: { id: Uuid; name: string }
  /** The name of a beneficiary or an account. */
  nameOf: (id: string) => string
}

/** The text that confirms the change. It describes the terms in words, and binds all of them with their digest. */
const textOf = (
  policy: PolicyRecord,
  result: Result,
  { requester, at }: { requester: Uuid; at: Date },
  { currency, workspace, nameOf }: TextNames,
): string => {
  const [before, after] = [presentTerms(policy), result && presentTerms(result)]
  const words = { money: (minor: string) => displayAmount(BigInt(minor), currency), nameOf, personOf: nameOf, typeName: quoted }
  const renamed = after && after.name !== before.name ? [`- Name: ${quoted(before.name)} → ${quoted(after.name)}`] : []
  const changes = after
    ? changedTerms(before, after, words).map((each) => `- ${each.label}: ${each.before} → ${each.after}`)
    : ['- Status: active → archived (no longer applies to payments)']
  return [
    'CONFIRM a change that makes a spending policy less strict. It takes effect immediately.',
    '',
    `Policy: ${quoted(policy.name)}, version ${policy.version}`,
    `Workspace: ${quoted(workspace.name)}`,
    'Change:',
    ...renamed,
    ...changes,
    `Approvals for an ordinary payment now: ${ordinaryApprovals(before, words)}`,
    `Approvals for an ordinary payment after the change: ${ordinaryApprovals(after, words)}`,
    '',
    'Purpose: policy change',
    `Policy id: ${formatId('policy', policy.id)}`,
    `Workspace id: ${formatId('workspace', workspace.id)}`,
    `Digest of the resulting terms: ${sha256(canonicalJson(after)).toString('hex')}`,
    `Requested by: ${formatId('account', requester)}`,
    `Requested at: ${isoTime(at)}`,
  ].join('\n')
}

type ChangeRequest = {
  change: unknown
  result: Result
  requester: Uuid
  grantId: Uuid | null
  /** Whether the text replaces one that people may have seen. */
  renewed: boolean
}

const readPeople = statement('policies.people')`
  select id, ${personNameSql('named.id')} as name from unnest($1::uuid[]) as named(id)`

/** The columns of a pending change. `policy`: the version to change. */
export const pendingColumns = async (
  db: Db,
  policy: PolicyRecord,
  { change, result, requester, grantId, renewed }: ChangeRequest,
  { at, ...textNames }: Omit<TextNames, 'nameOf'> & { at: Date },
) => {
  const ids = new Set([...policy.beneficiaryIds, ...(result?.beneficiaryIds ?? [])])
  const payees = await findBeneficiaries(db, [...ids])
  const accounts = [...(policy.approverIds ?? []), ...(result?.approverIds ?? [])]
  const people = accounts.length === 0 ? [] : await db.query<{ id: Uuid; name: string | null }>(readPeople, [accounts])
  const names = new Map([
    ...payees.map(({ id, displayName }) => [formatId('beneficiary', id), displayName] as const),
    ...people.map(({ id, name }) => [formatId('account', id), name] as const),
  ])
  const nameOf = (id: string) => `${quoted(names.get(id) ?? '')} (${id})`
  return {
    pendingChange: change,
    pendingChangeBy: requester,
    pendingChangeGrantId: grantId,
    pendingChangeAt: at,
    pendingChangeEffectiveAt: daysAfter(at, 1),
    pendingChangeVersion: policy.version,
    pendingChangeResult: {
      asked_at: isoTime(at),
      renewed,
      count_implied: result?.countImplied ?? false,
      terms: result && presentTerms(result),
    },
    pendingChangeMessage: textOf(policy, result, { requester, at }, { ...textNames, nameOf }),
  }
}

const textNotReady = 'The text of this change is being made. Read the policy again in a minute.'

export const presentPending = (record: PolicyRecord): Policy['pending_change'] => {
  const { pendingChangeBy: by, pendingChangeEffectiveAt: effectiveAt } = record
  if (by === null || !effectiveAt) return null
  const pending = pendingOf(record)
  const change = StoredChange.parse(record.pendingChange)
  const result = pending ? pending.result : catchRefusal(() => resultOf(change, record))
  // The change contradicts the current policy, and will be withdrawn.
  if (result instanceof Refusal) return null
  return {
    change: record.pendingChange as NonNullable<Policy['pending_change']>['change'],
    before: presentTerms(record),
    result: result && presentTerms(result),
    version: record.version,
    message: pending?.message ?? textNotReady,
    requested_by: formatId('account', by),
    effective_at: isoTime(effectiveAt),
  }
}
