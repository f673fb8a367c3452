import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { createTeam, join } from '../workspaces/team.ts'

/** An id of each kind, all of one tenant, by the routes that are about one. */
export type Tenant = { owner: Person; ids: Readonly<Record<string, string>> }

const id = (answer: { status: number; text: string; body: { id: string } }): string => {
  if (answer.status !== 201) throw new Error(`a tenant's resource was not made: ${answer.status} ${answer.text}`)
  return answer.body.id
}

/** A tenant that has one of everything that a stranger might try to reach. */
export const createTenant = async (service: TestService): Promise<Tenant> => {
  const team = await createTeam(service)
  const { owner } = team
  const { api } = owner
  const member = await join(service, team, 'member')
  await credit(service, owner.accountId, 10_000_000n)
  const key = await createKey(owner)
  const beneficiary = await newBeneficiary(api)
  const policy = id(
    await api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000', required_approval_count: 1 }),
  )
  const payment = await api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '200000' })
  const invitation = id(await api.post('/v1/workspaces/current/invitations', { role: 'viewer' }))
  const topup = id(await api.post('/v1/topups/initiate', { amount_minor: '10000', phone_number: '0722000001' }))
  const mandate = await createMandate(service, owner.wallet, { workspace_id: team.id })
  const identity = (await api.get('/v1/accounts/me/identities')).body.data[0].id
  const session = (await api.get('/v1/accounts/me/sessions')).body.data[0].id
  return {
    owner,
    ids: {
      '/v1/accounts/me/grants': key.grantId,
      '/v1/accounts/me/api-keys': key.id,
      '/v1/accounts/me/identities': identity,
      '/v1/accounts/me/sessions': session,
      '/v1/workspaces/current/members': member.memberId,
      '/v1/workspaces/current/invitations': invitation,
      '/v1/workspaces/current/grants': key.grantId,
      '/v1/beneficiaries': beneficiary,
      '/v1/spending-policies': policy,
      '/v1/payments': id(payment),
      '/v1/approvals': payment.body.approval_id,
      '/v1/intent-mandates': mandate.id,
      '/v1/topups': topup,
    },
  }
}

/** Somebody who is entitled to everything, elsewhere. */
export const createStranger = async (service: TestService): Promise<Person> => {
  const { owner } = await createTeam(service, 'Elsewhere')
  return owner
}
