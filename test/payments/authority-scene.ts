import type { PrivateKeyAccount } from 'viem/accounts'
import type { Client, Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { newWallet, type Person, signIn, walletMessage } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'

export type Team = { owner: Person; workspace: string; beneficiary: string }

export const answered = (answer: { status: number; body: Json; text: string }, status = 200): Json => {
  if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`)
  return answer.body
}

/** People, payments and decisions of a team, for tests about lost authority. */
export const createScene = (current: () => TestService, administrator: PrivateKeyAccount) => {
  const anyone = () => current().api
  /** A workspace whose payments need `approvals` people. */
  const team = async (approvals: number): Promise<Team> => {
    const owner = await signIn(anyone())
    await credit(current(), owner.accountId, 10_000_000n)
    const beneficiary = await newBeneficiary(owner.api)
    answered(
      await owner.api.post('/v1/spending-policies', {
        name: 'Ask',
        approval_threshold_minor: '100000',
        required_approval_count: approvals,
      }),
      201,
    )
    const workspace = (await owner.api.get('/v1/workspaces/current')).body.workspace.id
    return { owner, workspace, beneficiary }
  }

  const join = async ({ owner, workspace }: Team, role = 'approver', newcomer?: Person): Promise<Person> => {
    const person = newcomer ?? (await signIn(anyone()))
    const invitation = answered(await owner.api.post('/v1/workspaces/current/invitations', { role }), 201)
    answered(await person.api.post('/v1/workspaces/invitations/accept', { token: invitation.token }))
    answered(await person.api.put('/v1/workspaces/current', { workspace_id: workspace }))
    return person
  }

  const pay = async ({ beneficiary }: Team, api: Client): Promise<Json> =>
    answered(await api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '150000' }), 201)

  const decide = (api: Client, payment: Json, decision = 'approve') =>
    api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision })
  const sign = async (wallet: PrivateKeyAccount, payment: Json, decision = 'approve') => {
    const { message } = (await anyone().get(`/v1/approvals/${payment.approval_id}/message?decision=${decision}`)).body
    const signature = await wallet.signMessage({ message })
    return anyone().post(`/v1/approvals/${payment.approval_id}/decide-by-signature`, { decision, signature })
  }
  const approvalOf = async ({ owner }: Team, payment: Json): Promise<Json> =>
    answered(await owner.api.get(`/v1/approvals/${payment.approval_id}`))
  const paymentOf = async ({ owner }: Team, payment: Json): Promise<Json> =>
    answered(await owner.api.get(`/v1/payments/${payment.id}`))
  const member = async ({ owner }: Team, person: Person): Promise<string> => {
    const { data } = answered(await owner.api.get('/v1/workspaces/current/members'))
    return `/v1/workspaces/current/members/${data.find((one: Json) => one.account_id === person.accountId).id}`
  }
  /** Links another wallet to the account of `api`, and returns it with the path of its identity. */
  const link = async (api: Client): Promise<{ wallet: PrivateKeyAccount; path: string }> => {
    const wallet = newWallet()
    const message = await walletMessage(anyone(), wallet)
    const signature = await wallet.signMessage({ message })
    const identity = answered(await api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature }), 201)
    return { wallet, path: `/v1/accounts/me/identities/${identity.id}` }
  }
  const voidedEvents = async ({ owner }: Team): Promise<Json[]> => {
    const listed = answered(await owner.api.get('/v1/notifications?limit=100')).data
    return listed.filter((one: Json) => one.type === 'approval.decision_voided')
  }
  const administer = async (person: Person, change: Record<string, unknown>) => {
    const admin = await signIn(anyone(), administrator)
    answered(await admin.api.patch(`/v1/admin/accounts/${person.accountId}`, { reason: 'A stolen phone', ...change }))
  }
  return { administer, team, join, pay, decide, sign, approvalOf, paymentOf, member, link, voidedEvents }
}
