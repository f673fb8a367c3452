import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Authenticator, type AuthenticatorOptions, addPasskey, newAuthenticator } from '../harness/authenticator.ts'
import type { Answer, Json } from '../harness/client.ts'
import { newWallet, type Person } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { continueWith, newPerson } from '../identity/sign-in/providers.ts'
import { answered, createScene, type Team } from './authority-scene.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

const { approvalOf, decide, join, pay, paymentOf, sign, team, voidedEvents } = createScene(() => service, newWallet())
const site = () => service.deps.config.publicUrl

type Approver = Person & { authenticator: Authenticator; path: string }

const withPasskey = async (person: Person, options?: AuthenticatorOptions): Promise<Approver> => ({
  ...person,
  ...(await addPasskey(person.api, site(), options)),
})
/** An approver of the team, with a passkey. */
const approver = async (of: Team, options?: AuthenticatorOptions): Promise<Approver> => withPasskey(await join(of), options)

/** A person without a wallet. */
const byEmail = async (): Promise<Person> => {
  const { cookie } = await continueWith(service, 'google', newPerson())
  const api = service.api.as({ cookie })
  return { wallet: newWallet(), cookie, api, accountId: answered(await api.get('/v1/accounts/me')).id }
}

const textOf = async ({ api }: Pick<Person, 'api'>, payment: Json, decision = 'approve'): Promise<string> =>
  answered(await api.get(`/v1/approvals/${payment.approval_id}`)).signing[decision]
const send = ({ api }: Pick<Person, 'api'>, payment: Json, passkey: unknown, decision = 'approve'): Promise<Answer> =>
  api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision, passkey })
const decideByPasskey = async (by: Approver, payment: Json, decision = 'approve', options?: AuthenticatorOptions) =>
  send(by, payment, by.authenticator.sign(await textOf(by, payment, decision), options), decision)
const refused = (answer: Answer) => expect([answer.status, answer.body.error]).toEqual([401, 'invalid_signature'])

/** A team whose payments need this many approvals, all of them signed. */
const signingTeam = async (approvals: number): Promise<Team> => {
  const of = await team(approvals)
  answered(await of.owner.api.post('/v1/spending-policies', { name: 'Signed', approval_proof: 'signature' }), 201)
  return of
}

test.each(['EC', 'RSA'] as const)(
  'a passkey (%s) approves by signing the text that the page shows, and the payment is sent',
  async (kind) => {
    const of = await team(1)
    const by = await approver(of, { kind })
    const payment = await pay(of, of.owner.api)
    expect(answered(await decideByPasskey(by, payment))).toMatchObject({
      status: 'approved',
      approvals_given: 1,
      decisions: [{ account_id: by.accountId, decision: 'approve', via: 'passkey', signer: null }],
    })
    await service.settle()
    expect((await paymentOf(of, payment)).status).toBe('succeeded')
    const [listed] = answered(await by.api.get('/v1/accounts/me/passkeys')).data
    expect(listed.last_used_at).toEqual(expect.any(String))
  },
)

test('a quorum mixes a wallet, a passkey and a session', async () => {
  const of = await team(3)
  const [first, second, third] = [await approver(of), await join(of), await join(of)]
  const payment = await pay(of, of.owner.api)
  answered(await decideByPasskey(first, payment))
  answered(await sign(second.wallet, payment))
  const approved = answered(await decide(third.api, payment))
  expect(approved.status).toBe('approved')
  expect(approved.decisions.map(({ via }: Json) => via)).toEqual(['passkey', 'signature', 'credential'])
})

test('a passkey approves a whole batch, and rejects one', async () => {
  const of = await team(1)
  const by = await approver(of)
  const item = { beneficiary_id: of.beneficiary, amount_minor: '150000' }
  for (const [decision, status] of [
    ['approve', 'processing'],
    ['reject', 'rejected'],
  ] as const) {
    const batch = answered(
      await of.owner.api.post('/v1/payment-batches', { items: [item, item], duplicates_intended: true }),
      201,
    )
    const decided = answered(await decideByPasskey(by, batch, decision))
    expect(decided).toMatchObject({ batch: { status }, decisions: [{ via: 'passkey', decision }] })
  }
})

describe('an assertion is refused, and nothing is decided', () => {
  let of: Team
  let by: Approver
  let payment: Json
  beforeAll(async () => {
    of = await team(2)
    by = await approver(of)
    payment = await pay(of, of.owner.api)
  })

  const attempts: Record<string, () => Promise<Answer>> = {
    'over another text': async () => send(by, payment, by.authenticator.sign(`${await textOf(by, payment)} `)),
    'over the text of a rejection, for an approval': async () =>
      send(by, payment, by.authenticator.sign(await textOf(by, payment, 'reject'))),
    'over the text of another payment': async () =>
      send(by, payment, by.authenticator.sign(await textOf(by, await pay(of, of.owner.api)))),
    'without its user verified': () => decideByPasskey(by, payment, 'approve', { userVerified: false }),
    'from another origin': () => decideByPasskey(by, payment, 'approve', { origin: 'https://evil.example' }),
    'for another site': () => decideByPasskey(by, payment, 'approve', { rpId: 'evil.example' }),
    'by a passkey that nobody registered': async () =>
      send(by, payment, newAuthenticator(site()).sign(await textOf(by, payment))),
    'by the passkey of another approver': async () => {
      const other = await approver(of)
      return send(by, payment, other.authenticator.sign(await textOf(by, payment)))
    },
    'by a removed passkey': async () => {
      const other = await approver(of)
      answered(await other.api.delete(other.path))
      return decideByPasskey(other, payment)
    },
    'whose signature was changed': async () => {
      const assertion = by.authenticator.sign(await textOf(by, payment))
      const other = by.authenticator.sign(await textOf(by, payment))
      return send(by, payment, { ...assertion, response: { ...assertion.response, signature: other.response.signature } })
    },
    'by a copy of the passkey, whose count has not grown': async () => {
      answered(await decideByPasskey(by, await pay(of, of.owner.api), 'approve', { count: 900 }))
      return decideByPasskey(by, payment, 'approve', { count: 900 })
    },
  }
  for (const [what, attempt] of Object.entries(attempts))
    test(what, async () => {
      refused(await attempt())
      expect(await approvalOf(of, payment)).toMatchObject({ status: 'pending', decisions: [] })
    })

  test('which is in the audit log', async () => {
    const log = answered(await of.owner.api.get('/v1/workspaces/current/audit-log?action=approval.refused&limit=100')).data
    expect(log.length).toBeGreaterThanOrEqual(Object.keys(attempts).length)
  })

  test('and one that is not an assertion at all, with 400', async () => {
    expect((await send(by, payment, { id: 'x' })).status).toBe(400)
  })
})

test('the same assertion again gives the same answer, and none of another decision; after it was voided it counts no more', async () => {
  const of = await team(2)
  const [by, other] = [await approver(of, { count: 0 }), await join(of)]
  const payment = await pay(of, of.owner.api)
  const assertion = by.authenticator.sign(await textOf(by, payment), { count: 0 })
  const [first, again] = [answered(await send(by, payment, assertion)), answered(await send(by, payment, assertion))]
  expect(again).toEqual(first)
  refused(await send(other, payment, assertion))
  const members = answered(await of.owner.api.get('/v1/workspaces/current/members')).data
  const member = `/v1/workspaces/current/members/${members.find((one: Json) => one.account_id === by.accountId).id}`
  for (const role of ['viewer', 'approver']) answered(await of.owner.api.patch(member, { role }))
  refused(await send(by, payment, assertion))
  expect(answered(await decideByPasskey(by, payment, 'approve', { count: 0 })).approvals_given).toBe(1)
})

test('an initiator cannot approve by passkey where duties are separated', async () => {
  const of = await team(1)
  const initiator = await withPasskey(of.owner)
  await join(of)
  answered(await of.owner.api.post('/v1/spending-policies', { name: 'Four eyes', separation_of_duties: true }), 201)
  const answer = await decideByPasskey(initiator, await pay(of, of.owner.api))
  expect([answer.status, answer.body.error]).toEqual([403, 'separation_of_duties'])
})

test('removing a passkey voids what it approved and was not sent, with an event, and nothing else', async () => {
  const of = await team(2)
  const by = await approver(of)
  const second = await withPasskey(by)
  const [one, two] = [await pay(of, of.owner.api), await pay(of, of.owner.api)]
  answered(await decideByPasskey(by, one))
  answered(await decideByPasskey(second, two))
  answered(await by.api.delete(by.path))
  expect(await approvalOf(of, one)).toMatchObject({ approvals_given: 0, decisions: [{ voided_at: expect.any(String) }] })
  expect(await approvalOf(of, two)).toMatchObject({ approvals_given: 1, decisions: [{ voided_at: null }] })
  expect((await voidedEvents(of)).map(({ data }) => data.id)).toEqual([one.approval_id])
  expect(answered(await decideByPasskey(second, one)).approvals_given).toBe(1)
})

test('sends nothing when the passkey was removed after the last approval and before the sending', async () => {
  await service.settle()
  const of = await team(1)
  const by = await approver(of)
  const payment = await pay(of, of.owner.api)
  expect(answered(await decideByPasskey(by, payment)).status).toBe('approved')
  answered(await by.api.delete(by.path))
  const moved = service.sandbox.movements().length
  await service.settle()
  expect(await paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  expect(service.sandbox.movements()).toHaveLength(moved)
})

test('of removing a passkey and deciding with it at the same time, the decision counts only while the passkey is there', async () => {
  const of = await team(2)
  for (let round = 0; round < 5; round += 1) {
    const by = await approver(of)
    const payment = await pay(of, of.owner.api)
    const assertion = by.authenticator.sign(await textOf(by, payment))
    await Promise.all([send(by, payment, assertion), by.api.delete(by.path)])
    expect((await approvalOf(of, payment)).approvals_given).toBe(0)
  }
})

describe('a policy that counts only signed approvals', () => {
  test('does not count a session, which then signs; a rejection needs no signature', async () => {
    const of = await signingTeam(1)
    const by = await approver(of)
    const payment = await pay(of, of.owner.api)
    expect(payment.decision).toMatchObject({
      approval_proof: 'signature',
      explanation: expect.stringMatching(/by passkey or wallet counts/),
    })
    expect(answered(await decide(by.api, payment))).toMatchObject({
      status: 'pending',
      approval_proof: 'signature',
      approvals_given: 0,
      decisions: [{ via: 'credential' }],
    })
    expect(answered(await decideByPasskey(by, payment))).toMatchObject({
      status: 'approved',
      approvals_given: 1,
      decisions: [
        { via: 'credential', voided_at: expect.any(String) },
        { via: 'passkey', voided_at: null },
      ],
    })
    expect(answered(await decide(by.api, await pay(of, of.owner.api), 'reject')).status).toBe('rejected')
  })

  test('counts wallets and passkeys together', async () => {
    const of = await signingTeam(2)
    const [first, second] = [await approver(of), await join(of)]
    const payment = await pay(of, of.owner.api)
    answered(await decideByPasskey(first, payment))
    expect(answered(await decide(second.api, payment)).approvals_given).toBe(1)
    expect(answered(await sign(second.wallet, payment)).status).toBe('approved')
    await service.settle()
    expect((await paymentOf(of, payment)).status).toBe('succeeded')
  })

  test('names as eligible approvers only accounts that can sign, and refuses what they are too few for', async () => {
    const of = await signingTeam(1)
    const newcomer = await byEmail()
    const guest = await join(of, 'approver', newcomer)
    const payment = await pay(of, of.owner.api)
    expect((await approvalOf(of, payment)).context.eligible_approvers).toEqual([of.owner.accountId])
    answered(await decide(guest.api, payment))
    expect((await approvalOf(of, payment)).approvals_given).toBe(0)
    answered(await of.owner.api.post('/v1/spending-policies', { name: 'Two', required_approval_count: 2 }), 201)
    const asked = { beneficiary_id: of.beneficiary, amount_minor: '150000' }
    const denied = await of.owner.api.post('/v1/payments', asked)
    expect([denied.status, denied.body.error]).toEqual([403, 'policy_denied'])
    expect(denied.body.message).toMatch(/needs 2 approvals by passkey or wallet, and only 1 person/)
    await withPasskey(guest)
    expect((await approvalOf(of, payment)).context.eligible_approvers).toEqual([of.owner.accountId, guest.accountId])
    answered(await of.owner.api.post('/v1/payments', asked), 201)
  })

  test('that is made after an unsigned approval sends nothing on it', async () => {
    const of = await team(1)
    const by = await approver(of)
    const payment = await pay(of, of.owner.api)
    expect(answered(await decide(by.api, payment)).status).toBe('approved')
    answered(await of.owner.api.post('/v1/spending-policies', { name: 'Signed', approval_proof: 'signature' }), 201)
    await service.settle()
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  })

  test('is simulated with the accounts that can sign', async () => {
    const of = await team(1)
    const simulated = async () =>
      answered(
        await of.owner.api.post('/v1/spending-policies/simulate', {
          beneficiary_id: of.beneficiary,
          amount_minor: '150000',
          policy: { name: 'Signed', approval_proof: 'signature', required_approval_count: 1 },
        }),
      )
    expect(await simulated()).toMatchObject({
      outcome: 'require_approval',
      approval_proof: 'signature',
    })
  })
})
