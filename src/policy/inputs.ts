import { decodeUuid } from '../lib/ids.ts'
import { type PolicyField, type PolicyFields, policyFieldNames, policyFields, wireName } from './fields.ts'
import { applicablePolicies } from './findings.ts'
import type { Evaluation, PaymentFacts, PolicyRules } from './types.ts'

// The inputs of a decision, as JSON. Amounts and times are tagged: `{"minor": "250"}`, `{"time": "2026-01-31T21:00:00.000Z"}`.
// Policies are stored by id and version, and their text once for each version.

export type PackedInputs = Readonly<Record<string, unknown>>
export type PolicyDocument = Readonly<Record<string, unknown>>

const pack = (value: unknown): unknown => {
  if (typeof value === 'bigint') return { minor: value.toString() }
  if (value instanceof Date) return { time: value.toISOString() }
  if (Array.isArray(value)) return value.map(pack)
  if (typeof value !== 'object' || value === null) return value
  // Runs for every payment: arrays of entries would make up a seventh of the payment's garbage.
  const fields = value as Readonly<Record<string, unknown>>
  const packed: Record<string, unknown> = {}
  for (const name of Object.keys(fields)) packed[name] = pack(fields[name])
  return packed
}

const unpack = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unpack)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [name, inner] = entries.length === 1 ? (entries[0] ?? []) : []
  if (name === 'minor' && typeof inner === 'string') return BigInt(inner)
  if (name === 'time' && typeof inner === 'string') return new Date(inner)
  return Object.fromEntries(entries.map(([key, one]) => [key, unpack(one)]))
}

/** Keeps only the payee's beneficiaries that a list names. There may be thousands, and the others do not affect the decision. */
const namedPayee = ({ payment, grants, mandate }: Evaluation, policies: readonly PolicyRules[]): PaymentFacts => {
  const named = new Set(
    [...policies, ...grants, ...(mandate ? [mandate] : [])].flatMap(({ beneficiaryIds }) => beneficiaryIds ?? []),
  )
  const kept = (ids: readonly string[]) => ids.filter((id) => id === payment.beneficiaryId || named.has(id))
  return {
    ...payment,
    payeeBeneficiaryIds: kept(payment.payeeBeneficiaryIds),
    paybillBeneficiaryIds: kept(payment.paybillBeneficiaryIds),
  }
}

export const packInputs = (evaluation: Evaluation): PackedInputs => {
  const applicable = applicablePolicies(evaluation)
  const policies = applicable.map(({ id, version, usage }) => ({ id, version, usage }))
  return pack({ ...evaluation, payment: namedPayee(evaluation, applicable), policies }) as PackedInputs
}

const uuidOf = (id: unknown): string => {
  const uuid = typeof id === 'string' ? decodeUuid(id.slice(id.indexOf('_') + 1)) : undefined
  if (uuid === undefined) throw new TypeError('a policy names something that is no id')
  return uuid
}

/** A document that is older than a field is read as a policy without the field. */
const valueFrom = (document: PolicyDocument, field: PolicyField): unknown => {
  const value = document[wireName(field)]
  if (value === undefined) return policyFields[field].absent
  if (field === 'beneficiaryIds') return Array.isArray(value) ? value.map(uuidOf) : []
  if (field === 'approverIds') return Array.isArray(value) && value.length > 0 ? value.map(uuidOf) : null
  return field.endsWith('Minor') && typeof value === 'string' ? BigInt(value) : value
}

const boundTo = (binds: unknown): string | null => {
  if (binds === 'all') return null
  return uuidOf(typeof binds === 'object' && binds !== null && 'grant_id' in binds ? binds.grant_id : undefined)
}

const rulesFrom = (document: PolicyDocument): Omit<PolicyRules, 'usage'> => {
  const fields: Partial<PolicyFields> = Object.fromEntries(policyFieldNames.map((field) => [field, valueFrom(document, field)]))
  return {
    ...(fields as PolicyFields),
    id: uuidOf(document.id),
    name: String(document.name),
    version: Number(document.version),
    bindsGrantId: boundTo(document.binds),
    totalCountedSince: null,
  }
}

/** @throws TypeError if the text of a named policy is missing or invalid */
export const unpackInputs = (inputs: PackedInputs, documents: readonly PolicyDocument[]): Evaluation => {
  const texts = documents.map(rulesFrom)
  const evaluation = unpack(inputs) as Evaluation
  const policies = evaluation.policies.map(({ id, version, usage }) => {
    const rules = texts.find((text) => text.id === id && text.version === version)
    if (!rules) throw new TypeError(`the text of policy ${id}, version ${version}, is missing`)
    return { ...rules, usage }
  })
  return { ...evaluation, policies }
}
