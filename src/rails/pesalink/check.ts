import { checkClock, type RailCheck } from '../check.ts'
import { obtainToken } from './gateway.ts'
import type { PesalinkDeps, PesalinkOptions } from './options.ts'
import { createSigner } from './signature.ts'

/** What can be tested without moving money: a token, the signing key, the clock. */
export async function* checkPesalink(options: PesalinkOptions, deps: PesalinkDeps): AsyncGenerator<RailCheck> {
  const token = await obtainToken(options, deps.clock)
  yield {
    requirement: 'PesaLink gives an access token',
    problem:
      'value' in token
        ? null
        : 'it gave none: correct PESALINK_API_KEY, PESALINK_MERCHANT_CODE, PESALINK_CONSUMER_SECRET or PESALINK_URL',
  }
  try {
    createSigner(options.privateKeyPem)('a test')
    yield { requirement: 'the private key signs', problem: null }
  } catch {
    yield { requirement: 'the private key signs', problem: 'PESALINK_PRIVATE_KEY is no RSA private key in PEM' }
  }
  yield {
    requirement: 'the bank documents which codes are failures',
    problem: options.failureCodes.length > 0 ? null : 'PESALINK_FAILURE_CODES is empty, so no failed transfer can be proven',
  }
  yield await checkClock(options.baseUrl, deps.clock, options.timeoutMs)
}
