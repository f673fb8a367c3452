import { type Address, concat, encodeAbiParameters, type Hex, hashMessage, hexToBytes } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createAskContract } from '../../verifier/chain.ts'
import { run } from '../../verifier/main.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { newWallet, sessionCookieOf } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { type Chain, startChain } from '../identity/sign-in/chain.ts'
import { receiptOf } from './receipts.ts'

const { address } = newWallet()
const signature: Hex = `0x${'ab'.repeat(80)}`
const accept = (message: string, deployed = true) => chain.contracts.set(address.toLowerCase(), { message, signature, deployed })

const chain: Chain = await startChain(8453)
const rpc = `1=http://127.0.0.1:9,8453=${chain.url}`
const service = await openService({ env: { EVM_RPC_URLS: `8453=${chain.url}` } })
const { message } = (await service.api.post('/v1/auth/wallet/nonce', { address, chain_id: 8453 })).body
accept(message)
const signedIn = await service.api.post('/v1/auth/wallet/verify', { message, signature })
const api = service.api.as({ cookie: sessionCookieOf(signedIn.headers) })
await credit(service, signedIn.body.account.id, 1_000_000n)
await api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '10000' })
const payment = { beneficiary_id: await newBeneficiary(api), amount_minor: '20000' }
const { id, approval_id: approval } = (await api.post('/v1/payments', payment)).body
const text = (await api.get(`/v1/approvals/${approval}`)).body.signing.approve
accept(text)
await api.post(`/v1/approvals/${approval}/decide-by-signature`, { decision: 'approve', signature, address })
const receipt = await receiptOf(service, { api }, id)
const keys = (await service.api.get('/.well-known/jwks.json')).body
afterAll(() => chain.close())
beforeEach(() => {
  chain.trouble = 'none'
  accept(text)
})

/** Runs the command line on files of its own: its exit status and output. */
const verify = async (...args: string[]): Promise<{ status: number; lines: string[] }> => {
  const files: Record<string, unknown> = { 'receipt.json': receipt, 'keys.json': keys }
  const lines: string[] = []
  const read = async (path: string) => new TextEncoder().encode(JSON.stringify(files[path]))
  return { status: await run(['receipt.json', '--jwks', 'keys.json', ...args], { say: (line) => lines.push(line), read }), lines }
}
const about = (lines: string[]): string | undefined => lines.find((line) => line.includes('signature of acc_'))

test('a contract wallet’s signature is not checked unless its chain is named, which is said', async () => {
  expect(receipt.approval.decisions[0].signer).toBe(`eip155:8453:${address satisfies Address}`)
  const calls = chain.calls.length
  for (const args of [[], ['--rpc', '1=http://127.0.0.1:9']]) {
    const { status, lines } = await verify(...args)
    expect([status, about(lines)]).toEqual([0, expect.stringMatching(/^\? {4}.*only its chain can confirm its signature/)])
  }
  expect(chain.calls).toHaveLength(calls)
})

test('its chain is asked when it is named: what the contract accepts holds, and what it refuses does not', async () => {
  const accepted = await verify('--rpc', rpc)
  expect([accepted.status, about(accepted.lines)]).toEqual([0, expect.stringMatching(/^ok .*accepts it, as its chain says now/)])
  accept('another text')
  const refused = await verify('--rpc', rpc)
  expect([refused.status, about(refused.lines)]).toEqual([1, expect.stringMatching(/^BAD .*does not accept it now/)])
  chain.trouble = 'reverts'
  expect((await verify('--rpc', rpc)).status).toBe(1)
})

test.each(['http_500', 'garbage', 'error', 'other_chain'] as const)(
  'a chain that does not answer, %s, leaves it unchecked',
  async (trouble) => {
    chain.trouble = trouble
    const { status, lines } = await verify('--rpc', rpc)
    expect([status, about(lines)]).toEqual([0, expect.stringMatching(/^\? /)])
  },
)

test('a contract that is not there yet leaves it unchecked; the address of a chain must be one', async () => {
  accept(text, false)
  expect(about((await verify('--rpc', rpc)).lines)).toContain('there is no contract at this address yet')
  const wrong = await verify('--rpc', 'https://rpc.example')
  expect([wrong.status, wrong.lines.join()]).toEqual([2, expect.stringContaining('--rpc takes CHAIN=URL')])
})

test('a signature that was made before the contract was deployed (ERC-6492) is unwrapped once it is there', async () => {
  const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const
  const wrapped = concat([encodeAbiParameters(types, [address, '0x1234', signature]), `0x${'6492'.repeat(16)}`])
  const ask = createAskContract(new Map([[8453, chain.url]]))
  const hash = hexToBytes(hashMessage(text))
  expect(await ask(8453, address, hash, wrapped)).toBe('accepts')
  expect(await ask(8453, address, hexToBytes(hashMessage('another text')), wrapped)).toBe('refuses')
})
