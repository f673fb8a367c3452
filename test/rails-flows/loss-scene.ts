import type { Config } from '../../src/config.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { upkeepCommands } from '../../src/operate/admin/upkeep.ts'
import { startAdministered } from '../admin/administrators.ts'
import type { Client } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { type Payee, pass, paymentOf } from './scene.ts'

export const operator = shellOperator('a person')
export const paybill = (destination: string): Payee => ({ payment_rail: 'MPESA_B2B', destination, account_reference: 'A1' })
export const phone = (destination: string): Payee => ({ payment_rail: 'MPESA_B2C', destination })
export const bank = (destination: string): Payee => ({ payment_rail: 'PESALINK', destination, bank_code: '0012' })

export type Asked = { id: string; approval_id: string }

export const approve = (api: Client, { approval_id }: Pick<Asked, 'approval_id'>) =>
  api.post(`/v1/approvals/${approval_id}/decide`, { decision: 'approve' })

export type LossScene = Awaited<ReturnType<typeof startLossScene>>

/** Two databases: one continues, the other stopped earlier. Then the service uses the second one, with the same provider. */
export const startLossScene = async () => {
  const original = await createTestDatabase()
  const databases: TestDatabase[] = [original]
  const { service, wallets, admin } = await startAdministered({ database: original })
  const signedIn = await signIn(service.api)
  await credit(service, signedIn.accountId, 100_000_000n)

  const open = async (database: TestDatabase): Promise<void> => {
    const names = wallets.map(({ address }) => address).join(',')
    scene.now = await startService({ database, clock: service.clock, provider: service, env: { ADMIN_ACCOUNTS: names } })
    scene.person = { ...signedIn, api: scene.now.api.as({ cookie: signedIn.cookie }) }
  }
  const look = async (): Promise<void> => {
    for (let turn = 0; turn < 4; turn += 1) await scene.now.deps.lossDetection.check()
  }
  /** Resumes by the command, which has no rails. */
  const resume = async (reason?: string, settings: Partial<Config> = {}, again?: 'yes') => {
    scene.now.clock.advance(60)
    const { database } = scene.now
    const deps = { ...scene.now.deps, config: { ...scene.now.deps.config, ...settings } }
    const at = { deps, databaseUrl: database.url, operator, close: async () => undefined }
    const answer = await upkeepCommands['after-restore'].run(at, [], { reason, again })
    await look()
    return { resumed: [], statements_not_compared: [], ...(answer as object) }
  }
  const scene = {
    now: service as TestService,
    person: signedIn as Person,
    look,
    resume,
    /** An administrator at the current service. */
    admin: async (): Promise<Client> => (await signIn(scene.now.api, admin.wallet)).api,
    ask: async (payee: Payee, more: Record<string, unknown> = {}): Promise<Asked> => {
      const { api } = scene.person
      const { status, body } = await api.post('/v1/payments', {
        beneficiary_id: await newBeneficiary(api, payee),
        amount_minor: '300000',
        ...more,
      })
      if (status !== 201) throw new Error(`a payment was refused: ${status}`)
      return body
    },
    statusOf: async ({ id }: Pick<Asked, 'id'>): Promise<string> => (await paymentOf(scene.person, id)).status,
    /** Loses the writes in between: the service continues with an earlier copy. */
    losing: async (between: () => Promise<void>): Promise<void> => {
      await scene.now.settle()
      await scene.now.stop()
      const copy = await copyDatabase(original)
      databases.push(copy)
      await open(original)
      await between()
      await scene.now.stop()
      scene.now.clock.advance(5)
      await open(copy)
    },
    noticeLoss: async (): Promise<void> => {
      scene.now.deps.lossDetection.reportLoss('a test')
      await look()
    },
    /** The service detects the loss, a person reconciles and ends it. */
    endLoss: async (): Promise<void> => {
      await scene.noticeLoss()
      if (scene.now.deps.lossDetection.state() !== 'lost') throw new Error('the loss was not noticed')
      await resume('a test')
      if (scene.now.deps.lossDetection.state() !== 'trusted') throw new Error('the loss has not ended')
    },
    close: async (): Promise<string[]> => {
      // Seals the past time here, as the regular job does elsewhere.
      await pass(scene.now, 1)
      const breaches = await findBreaches(scene.now)
      await scene.now.stop()
      await service.sandbox.close()
      for (const database of databases) await database.drop()
      return breaches
    },
  }
  return scene
}
