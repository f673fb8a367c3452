import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { connectFeatures } from './app-connections.ts'
import { createIdentityParts, type IdentityParts, refuseSimulatedIdentities } from './app-identity.ts'
import { administratorNames } from './auth/administrators.ts'
import { createContractWallets } from './auth/contract-wallet.ts'
import { createLastUsed, type LastUsed } from './auth/last-used.ts'
import { createOrderNames } from './auth/order-names.ts'
import { createReceiptKeys } from './auth/receipt-keys.ts'
import { createResolvers } from './auth/resolve.ts'
import { secretPrefixes } from './auth/secrets.ts'
import { createDerivations, createVault } from './auth/vault.ts'
import type { Config } from './config.ts'
import { onSignal } from './db/client.ts'
import { connect } from './db/connect.ts'
import type { PlannedReads } from './db/connection-settings.ts'
import { createLossDetection } from './db/loss-detection.ts'
import type { Pooler } from './db/pooler.ts'
import { createReadiness } from './db/readiness.ts'
import type { RecoveryPointFile } from './db/recovery-point.ts'
import { createSendLogRegistry } from './db/send-log-registry.ts'
import { createReads, type Reads } from './db/standby.ts'
import { eventsCommitted } from './events/append.ts'
import { createFeed } from './events/feed.ts'
import { type App, mcpPath, type ProtectedResource, resourceUrl, type Shutdown } from './http/app-type.ts'
import { registerAuthentication } from './http/authenticate.ts'
import { registerAuthorization, registerCsrfGuard } from './http/authorize.ts'
import { dashboardAssets, registerDashboard } from './http/dashboard.ts'
import { keepDashboardFiles } from './http/dashboard-files.ts'
import { registerDocumentation } from './http/documentation.ts'
import { registerErrors } from './http/errors.ts'
import { createGuardedFetch, createHostResolver } from './http/guarded-fetch.ts'
import { type Cursors, createCursors } from './http/pagination.ts'
import { createRateLimits, registerRateLimits } from './http/rate-limit.ts'
import { registerRequestRecords } from './http/request-log.ts'
import { registerRequestSyntax } from './http/request-syntax.ts'
import { type RouteEntry, registerRouteGuard } from './http/route-table.ts'
import { createHttp } from './http/server.ts'
import { registerServiceRoutes } from './http/service-routes.ts'
import { registerVerifyPage } from './http/verify-page.ts'
import { createJobs, type Sweep } from './jobs/jobs.ts'
import { openSystemAccounts } from './ledger/ledger.ts'
import type { Clock } from './lib/clock.ts'
import type { SendLog } from './lib/send-log.ts'
import { registerMcp } from './mcp/routes.ts'
import { alertCommitted, createAlerts } from './modules/alerts.ts'
import { addExistingRecords } from './modules/existing.ts'
import { startWork, type WorkDeps } from './modules/jobs.ts'
import { newestMails } from './modules/mail/send.ts'
import { createBatchQueue } from './modules/payments/create/payment-batch.ts'
import { createPaymentQueue, paymentAnswered } from './modules/payments/create/submit.ts'
import { createRefusals } from './modules/payments/refusals/record.ts'
import { registerSigningKeys } from './modules/proof/service.ts'
import { createTokenSharing } from './modules/provider-tokens/service.ts'
import { createPush } from './modules/push/send.ts'
import { createRequestLog } from './modules/request-log/recorder.ts'
import { type RoutesDeps, registerModules } from './modules/routes.ts'
import { createInstruments, type Instruments } from './operate/listener/instruments.ts'
import { createMetrics, type Metrics, type MetricsDeps } from './operate/listener/metrics.ts'
import { createOperator } from './operate/listener/operator.ts'
import type { SandboxControl } from './operate/listener/sandbox.ts'
import { type DailyOptions, factsOf, verifyDaily } from './operate/verify/verify.ts'
import { railsDown, railsHeld } from './rails/gate.ts'
import type { Rails } from './rails/rail.ts'

export type Deps = RoutesDeps & WorkDeps & MetricsDeps & { reads: Reads; lastUsed: LastUsed; cursors: Cursors }

export type Service = Awaited<ReturnType<typeof createService>>

/** The database at `databaseUrl` is already migrated. In development, the keys in `config` have already been generated. */
export type ServiceOptions = {
  config: Config
  databaseUrl: string
  /** The address of Postgres itself, if `databaseUrl` is the address of a pooler. */
  directUrl?: string
  pooler?: Pooler | undefined
  clock: Clock
  logger: Logger
  rails: Rails
  sandbox?: SandboxControl | undefined
  /** The send log, with the entries of earlier processes. */
  sendLog?: (RecoveryPointFile & SendLog) | undefined
  /** Called before the routes are registered, to describe each one in the API document, which is rendered at build time. */
  document?: (http: App) => Promise<void>
}

type DepsOptions = ServiceOptions & { statementTimeoutMs?: number; reads?: PlannedReads }

const buildDeps = (options: DepsOptions, identity: IdentityParts, instruments?: Instruments): Deps => {
  const { config, databaseUrl, directUrl = databaseUrl, pooler, clock, logger, rails } = options
  if (!config.ENCRYPTION_KEYS || !config.TOKEN_SECRETS || !config.ORDER_KEY || !config.RECEIPT_KEYS)
    throw new Error('the keys must be made before the service is built')
  const shared = {
    poolSize: config.DATABASE_POOL_SIZE,
    logger,
    clock,
    statementTimeoutMs: options.statementTimeoutMs ?? config.DATABASE_STATEMENT_TIMEOUT_MS,
    reads: options.reads,
  }
  const db = connect({ ...shared, url: databaseUrl, pooler, onPoolWait: instruments?.connections })
  const standby = config.DATABASE_READ_URL === undefined ? null : connect({ ...shared, url: config.DATABASE_READ_URL })
  const feed = createFeed({ db, databaseUrl: directUrl, logger })
  const derivations = createDerivations(config.TOKEN_SECRETS)
  const alerts = createAlerts(logger)
  onSignal(db, eventsCommitted, feed.wake)
  if (instruments) {
    onSignal(db, eventsCommitted, instruments.events)
    onSignal(db, paymentAnswered, instruments.payments)
  }
  onSignal(db, alertCommitted, ({ alert, facts }) => alerts.raise(alert, facts))
  const vault = createVault(config.ENCRYPTION_KEYS)
  const timeoutMs = config.OAUTH_METADATA_TIMEOUT_MS
  const servers = config.OAUTH_METADATA_DNS_SERVERS
  const fetchLimits = { timeoutMs, resolve: createHostResolver({ clock, deadlineMs: timeoutMs, servers }) }
  rails.setTokenSharing(createTokenSharing({ clock, db, logger, vault }))
  const parts: Omit<Deps, 'batchQueue' | 'paymentQueue' | 'refusals'> = {
    config,
    db,
    reads: createReads(db, standby, logger, instruments?.reads),
    lastUsed: createLastUsed(db.query, logger),
    requestLog: createRequestLog({ db, clock, logger }),
    clock,
    logger,
    vault,
    receiptKeys: createReceiptKeys(config.RECEIPT_KEYS),
    derivations,
    lossDetection: createLossDetection(
      { clock, db, logger, sendLogs: createSendLogRegistry({ db, logger }, options.sendLog) },
      options.sendLog,
    ),
    sends: options.sendLog,
    orderNames: createOrderNames(config.ORDER_KEY.current),
    contractWallets: createContractWallets(config.EVM_RPC_URLS, (failure) =>
      logger.warn(failure, 'the chain did not confirm the signature of a contract wallet'),
    ),
    identityProviders: identity.providers,
    clientDocuments: createGuardedFetch(fetchLimits),
    push: createPush(config, { derivations, fetch: createGuardedFetch(fetchLimits), logger, vault }),
    cursors: createCursors(derivations),
    feed,
    jobs: createJobs({ db, mode: config.JOBS, logger, onSwept: instruments?.sweeps }),
    rails: instruments ? instruments.rails(rails) : rails,
    alerts,
    ...connectFeatures({ clock, config, vault }),
  }
  return {
    ...parts,
    paymentQueue: createPaymentQueue(parts),
    batchQueue: createBatchQueue(parts),
    refusals: createRefusals(parts),
  }
}

/** For commands that run beside the service, without listeners or jobs. */
export const createDeps = (options: DepsOptions): Deps => buildDeps(options, createIdentityParts(options.config))

const buildHttp = async (
  deps: Deps,
  metrics: Metrics,
  identity: IdentityParts,
  shutdown: Shutdown,
  { onRedis, document }: { onRedis: (up: boolean) => void; document: ServiceOptions['document'] },
): Promise<{ http: App; routes: readonly RouteEntry[] }> => {
  const { config } = deps
  const http = await createHttp({ ...deps, shutdown })
  metrics.watch(http)
  registerErrors(http, (refusal, caller) => addExistingRecords(deps.db, refusal, caller))
  registerRequestRecords(http, deps.requestLog.note)
  registerRequestSyntax(http)
  await document?.(http)
  const routes = registerRouteGuard(http)
  const resolversFor = (resource: ProtectedResource) =>
    createResolvers({
      ...deps,
      admins: administratorNames(config.ADMIN_ACCOUNTS),
      sessionIdleDays: config.SESSION_IDLE_DAYS,
      audience: resourceUrl(config.publicUrl, resource),
      mayHaveLost: deps.lossDetection.mayHaveLost,
    })
  const limits = await createRateLimits(http, config, onRedis)
  // Hooks run in this order for every request: authenticate, then rate limits, then authorize.
  registerCsrfGuard(http, config.publicUrl, config.CORS_ORIGINS)
  registerAuthentication(http, {
    ...resolversFor(''),
    mcpBearers: resolversFor(mcpPath).bearers.filter(({ prefix }) => prefix !== secretPrefixes.dashboard_token),
    onRefused: limits.countRefused,
  })
  registerRateLimits(http, limits)
  registerAuthorization(http, deps.clock)
  registerServiceRoutes(http, deps, createReadiness(deps.db), () => ({
    ...railsDown(deps.rails.gates),
    ...railsHeld(deps.lossDetection),
  }))
  registerModules(http, deps)
  registerMcp(http, { ...deps, routes, countMore: limits.countMore })
  await identity.registerSandbox(http, () => newestMails(deps))
  await registerDashboard(http, deps.db, {
    rails: config.RAILS === undefined || config.RAILS.includes('sandbox'),
    fees: Object.keys(config.FEES).length > 0,
    identity: identity.simulated,
  })
  registerDocumentation(http)
  registerVerifyPage(http)
  return { http, routes }
}

/** A sweep that runs once a day across all processes. */
const dailyVerification = (deps: Deps, directUrl: string): Sweep[] => {
  const { clock, logger, alerts, config } = deps
  const onBroken: DailyOptions['onBroken'] = ({ invariant, promise }) =>
    alerts.raise('promise_broken', { subject: invariant, id: promise })
  const run = () => verifyDaily({ directUrl, clock, logger, facts: () => factsOf(deps), onBroken })
  return config.JOBS === 'off' ? [] : [{ name: 'verify.daily', everySeconds: 86_400, run }]
}

/** The service opens no port and runs no job before `start`. */
export const createService = async (options: ServiceOptions) => {
  const identity = createIdentityParts(options.config)
  const registry = new Registry()
  const instruments = createInstruments(registry)
  const deps = buildDeps(options, identity, instruments)
  const metrics = createMetrics(deps, registry)
  const shutdown = { hasBegun: false }
  const { http, routes } = await buildHttp(deps, metrics, identity, shutdown, {
    onRedis: instruments.redis,
    document: options.document,
  })
  const operator = await createOperator(deps, metrics, shutdown, options.sandbox)
  await http.ready()
  await operator.ready()
  return {
    deps,
    http,
    operator,
    routes,
    /** Called before `stop`: readiness then fails, and every response closes its connection. */
    beginShutdown: () => {
      shutdown.hasBegun = true
    },
    start: async () => {
      await registerSigningKeys(deps.db, deps.receiptKeys)
      await refuseSimulatedIdentities(deps.config, deps.db)
      await openSystemAccounts(deps.db, deps.config.CURRENCY, deps.clock.now())
      await deps.feed.start()
      await startWork(deps, dailyVerification(deps, options.directUrl ?? options.databaseUrl))
      // A failure affects only pages of this version, which lose their files at the next deployment. The service still starts.
      if (deps.config.JOBS !== 'off')
        await keepDashboardFiles(deps.db, dashboardAssets).catch((error: unknown) =>
          deps.logger.warn({ err: error }, 'the dashboard files could not be kept for the next deployment'),
        )
    },
    stop: async (): Promise<void> => {
      await http.close()
      await operator.close()
      await deps.jobs.stop()
      await deps.requestLog.flush()
      await deps.refusals.settled()
      await deps.lossDetection.stop()
      await deps.feed.stop()
      await deps.lastUsed.flush()
      await deps.reads.close()
      await deps.db.close()
    },
  }
}
