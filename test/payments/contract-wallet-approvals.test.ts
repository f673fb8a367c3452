import type { Address, Hex } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { newWallet, type Person, sessionCookieOf } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { type Chain, startChain } from '../identity/sign-in/chain.ts'
import { pass } from '../rails-flows/scene.ts'
import { answered, createScene, type Team } from './authority-scene.ts'

const chain: Chain = await startChain(1)
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false', EVM_RPC_URLS: `1=${chain.url}` } })
afterAll(async () => {
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
  await chain.close()
})

const { approvalOf, decide, join, pay, paymentOf, team, voidedEvents } = createScene(() => service, newWallet())

/** A signature by a contract's owner: no key of the address itself made it. */
const signature: Hex = `0x${'ab'.repeat(80)}`
const accept = (address: Address, message: string) =>
  chain.contracts.set(address.toLowerCase(), { message, signature, deployed: true })
/** Gives the contract other owners, for whom earlier owners' signatures are invalid. */
const changeOwners = (address: Address) => chain.contracts.delete(address.toLowerCase())

type Contract = { address: Address; person: Pick<Person, 'accountId' | 'api'> }

/** An approver of the team with a contract wallet. */
const joinByContract = async (of: Team): Promise<Contract> => {
  const { address } = newWallet()
  const { message } = (await service.api.post('/v1/auth/wallet/nonce', { address, chain_id: 1 })).body
  accept(address, message)
  const answer = await service.api.post('/v1/auth/wallet/verify', { message, signature })
  const newcomer = {
    accountId: answered(answer).account.id,
    api: service.api.as({ cookie: sessionCookieOf(answer.headers) }),
  } as Person
  return { address, person: await join(of, 'approver', newcomer) }
}

const sign = async ({ address }: Contract, payment: Json): Promise<Json> => {
  const path = `/v1/approvals/${payment.approval_id}`
  accept(address, (await service.api.get(`${path}/message?decision=approve`)).body.message)
  return answered(await service.api.post(`${path}/decide-by-signature`, { decision: 'approve', signature, address }))
}

beforeEach(() => {
  chain.trouble = 'none'
})

const movements = () => service.sandbox.movements().length
describe('an approval that a contract wallet signed is asked of its chain again', () => {
  test('before the money leaves: nothing is sent when its owners have changed, and the approval is voided with an event', async () => {
    const of = await team(1)
    const contract = await joinByContract(of)
    const [kept, lost] = [await pay(of, of.owner.api), await pay(of, of.owner.api)]
    expect((await sign(contract, kept)).status).toBe('approved')
    await service.settle()
    expect((await paymentOf(of, kept)).status).toBe('succeeded')
    expect((await sign(contract, lost)).status).toBe('approved')
    changeOwners(contract.address)
    const moved = movements()
    await service.settle()
    expect(await paymentOf(of, lost)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
    expect(movements()).toBe(moved)
    expect(await approvalOf(of, lost)).toMatchObject({ decisions: [{ via: 'signature', voided_at: expect.any(String) }] })
    expect(await voidedEvents(of)).toMatchObject([{ data: { id: lost.approval_id, approvals_given: 0 } }])
  })

  test('when the next person approves: it does not count, and the payment waits for another one', async () => {
    const of = await team(2)
    const contract = await joinByContract(of)
    const [first, second] = [await join(of), await join(of)]
    const payment = await pay(of, of.owner.api)
    expect((await sign(contract, payment)).approvals_given).toBe(1)
    changeOwners(contract.address)
    expect(answered(await decide(first.api, payment))).toMatchObject({ status: 'pending', approvals_given: 1 })
    expect(await voidedEvents(of)).toHaveLength(1)
    // The approver of a voided decision may decide again, and another person may too.
    expect(answered(await decide(second.api, payment))).toMatchObject({ status: 'approved', approvals_given: 2 })
    await service.settle()
    expect((await paymentOf(of, payment)).status).toBe('succeeded')
  })

  test('and a chain that does not answer sends nothing: the payment stays processing, is tried again, and is sent when the chain confirms it', async () => {
    const of = await team(2)
    const contract = await joinByContract(of)
    const payment = await pay(of, of.owner.api)
    await sign(contract, payment)
    chain.trouble = 'http_500'
    expect(answered(await decide(of.owner.api, payment)).status).toBe('approved')
    const moved = movements()
    await service.settle()
    await pass(service, 31)
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'processing', failure_code: null, completed_at: null })
    expect(movements()).toBe(moved)
    expect(await findBreaches(service)).toEqual([])
    chain.trouble = 'none'
    await pass(service, 31)
    expect((await paymentOf(of, payment)).status).toBe('succeeded')
    expect(movements()).toBe(moved + 1)
  })

  test('and a chain that stays silent ends the payment as failed after 45 minutes, with the money given back', async () => {
    const of = await team(1)
    const contract = await joinByContract(of)
    const payment = await pay(of, of.owner.api)
    await sign(contract, payment)
    chain.trouble = 'http_500'
    await service.settle()
    await pass(service, 45 * 60 - 1)
    expect((await paymentOf(of, payment)).status).toBe('processing')
    await pass(service, 31)
    chain.trouble = 'none'
    expect(await paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
    expect((await of.owner.api.get('/v1/accounts/me')).body.balance.held_minor).toBe('0')
  })

  test('and without an answer a signature is not called wrong: the approval waits, and the same signature counts later', async () => {
    const of = await team(1)
    const contract = await joinByContract(of)
    const path = `/v1/approvals/${(await pay(of, of.owner.api)).approval_id}`
    accept(contract.address, (await service.api.get(`${path}/message?decision=approve`)).body.message)
    const send = () =>
      service.api.post(`${path}/decide-by-signature`, { decision: 'approve', signature, address: contract.address })
    chain.trouble = 'http_500'
    expect((await send()).body).toMatchObject({ error: 'unavailable', message: expect.stringContaining('did not answer') })
    chain.trouble = 'none'
    expect(answered(await send()).status).toBe('approved')
    await service.settle()
  })

  test('and payments that rest on no such approval ask no chain', async () => {
    const of = await team(1)
    const payment = await pay(of, of.owner.api)
    await decide(of.owner.api, payment)
    const asked = chain.calls.length
    await service.settle()
    expect((await paymentOf(of, payment)).status).toBe('succeeded')
    expect(chain.calls).toHaveLength(asked)
  })

  test('for every item of a batch: none is sent when its owners have changed, and the approval is voided once', async () => {
    const of = await team(1)
    const contract = await joinByContract(of)
    const items = Array.from({ length: 5 }, () => ({ beneficiary_id: of.beneficiary, amount_minor: '150000' }))
    const batch = answered(await of.owner.api.post('/v1/payment-batches', { items, duplicates_intended: true }), 201)
    expect((await sign(contract, batch)).status).toBe('approved')
    changeOwners(contract.address)
    const moved = movements()
    await service.settle()
    const { data } = answered(await of.owner.api.get(`/v1/payments?batch_id=${batch.id}`))
    expect(data.map(({ status, failure_code }: Json) => [status, failure_code])).toEqual(
      Array(5).fill(['failed', 'policy_changed']),
    )
    expect(movements()).toBe(moved)
    expect(await voidedEvents(of)).toHaveLength(1)
  })
})
