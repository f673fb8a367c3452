import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mandateTerms } from '../harness/mandates.ts'
import { newWallet } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { type Chain, startChain } from '../identity/sign-in/chain.ts'

let chain: Chain
let service: TestService
beforeAll(async () => {
  chain = await startChain(1)
  service = await startService({ env: { EVM_RPC_URLS: `1=${chain.url}` } })
})
afterAll(async () => {
  await service.close()
  await chain.close()
})

/** What a contract's owner made: no key of the address itself signed it. */
const signature: Hex = `0x${'ab'.repeat(80)}`
const path = '/v1/intent-mandates'
const accept = (address: string, message: string) =>
  chain.contracts.set(address.toLowerCase(), { message, signature, deployed: true })

test("a contract wallet creates and revokes a mandate with its chain's confirmation, and cannot without it", async () => {
  const { address } = newWallet()
  const { message } = (await service.api.post('/v1/auth/wallet/nonce', { address, chain_id: 1 })).body
  accept(address, message)
  expect((await service.api.post('/v1/auth/wallet/verify', { message, signature })).status).toBe(200)

  const terms = mandateTerms(service)
  const prepared = (await service.api.post(`${path}/prepare`, { address, terms })).body
  const send = () => service.api.post(path, { address, terms, nonce: prepared.nonce, signature })
  expect((await send()).body.error).toBe('invalid_signature')
  accept(address, prepared.message)
  chain.trouble = 'http_500'
  expect((await send()).body.error).toBe('invalid_signature')
  chain.trouble = 'none'
  const made = await send()
  expect([made.status, made.body.signer]).toEqual([201, address])
  expect((await send()).text).toBe(made.text)

  const revocation = (await service.api.get(`${path}/${made.body.id}/message`)).body.message
  const revoke = () => service.api.post(`${path}/${made.body.id}/revoke`, { signature, address })
  expect((await revoke()).body.error).toBe('invalid_signature')
  accept(address, revocation)
  expect((await revoke()).body.status).toBe('revoked')
})
