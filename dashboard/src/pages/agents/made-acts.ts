import { api, call } from '../../api/client.ts'
import { parametersOf } from '../../api/parameters.ts'
import type { Schemas } from '../../api/types.ts'

type Beneficiary = Schemas['Beneficiary']

/** Every beneficiary that it created or renamed and that is not archived, however many pages they are. */
const beneficiariesBy = async (grantId: string): Promise<Beneficiary[]> => {
  const all: Beneficiary[] = []
  let cursor: string | undefined
  do {
    const query = parametersOf({ made_by_grant_id: grantId, status: 'active' as const, limit: 100, cursor })
    const page = await call(api.GET('/v1/beneficiaries', { params: { query } }))
    all.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  return all
}

/** Only what it created: a policy of a person that it changed stays. A workspace has at most a hundred active policies: one page. */
const policiesBy = async (grantId: string): Promise<Schemas['SpendingPolicy'][]> => {
  const query = { made_by_grant_id: grantId, status: 'active', limit: 100 } as const
  const { data } = await call(api.GET('/v1/spending-policies', { params: { query } }))
  return data.filter(({ created_by }) => created_by.grant_id === grantId)
}

// One after the other, so that a failure leaves those before it done and those after it as they were.

/** Exactly those that the person was shown: what an agent adds meanwhile is not confirmed with them. */
export const confirmBeneficiaries = async (shown: readonly Pick<Beneficiary, 'id'>[]): Promise<number> => {
  for (const { id } of shown) await call(api.POST('/v1/beneficiaries/{id}/confirm', { params: { path: { id } } }))
  return shown.length
}

export const archiveShown = async (shown: readonly Pick<Beneficiary, 'id'>[]): Promise<number> => {
  for (const { id } of shown) await call(api.DELETE('/v1/beneficiaries/{id}', { params: { path: { id } } }))
  return shown.length
}

export const archiveBeneficiaries = async (grantId: string): Promise<number> => archiveShown(await beneficiariesBy(grantId))

export const archivePolicies = async (grantId: string): Promise<number> => {
  const policies = await policiesBy(grantId)
  for (const { id } of policies) await call(api.DELETE('/v1/spending-policies/{id}', { params: { path: { id } } }))
  return policies.length
}
