import type { App } from '../../../http/app-type.ts'
import { originOf } from '../../../http/authenticate.ts'
import { ok } from '../../../http/idempotency.ts'
import { pageOf } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import { isoTime } from '../../../lib/clock.ts'
import { found, type Refusal } from '../../../lib/errors.ts'
import { presentDecision } from '../../policies/present.ts'
import { askChains, type ChainAnswers } from '../evaluation/authority.ts'
import { decideAt } from '../recheck.ts'
import type { Deps } from '../request.ts'
import { readContexts, readFacts } from './context.ts'
import { decideByCredential, decideBySignature, stopOf } from './decide.ts'
import { readNotifications, recordOpening } from './notifications.ts'
import { findApproval, listApprovals, presentApproval, presentListed } from './queries.ts'
import { awaitName } from './renew.ts'
import { Approval, Decide, DecideBySignature, ListApprovals, MessageQuery, SigningMessage } from './schema.ts'
import { messageFor, proveCaller, proveSigner } from './signer.ts'

const path = '/v1/approvals'
const one = `${path}/:id`

const decisionRefusals = [
  'separation_of_duties',
  'workspace_frozen',
  'account_frozen',
  'capability_disabled',
  'grant_frozen',
  'beneficiary_frozen',
] as const

/** The error that approving would return now, shown before the decision. */
const refusalNow = (refusal: Refusal | undefined) => refusal && { refusal_now: { error: refusal.code, message: refusal.message } }

export const registerApprovals = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.list(path, 'approvals.list', {
    permission: 'approval.read',
    summary: 'List approvals',
    description:
      'Returns approvals of payments, both pending and decided. `?status=pending` returns only those that need a decision.',
    querystring: ListApprovals,
    response: { 200: pageOf(Approval) },
    read: (page, { principal, query }) => listApprovals(deps.db, principal.workspace.id, page, { status: query.status }),
    idOf: ({ approval }) => approval.id,
    present: async (records, { principal }) => {
      const waiting = records.filter(({ approval }) => approval.status === 'pending')
      const contexts = await readContexts(deps, principal, waiting)
      const refused = refusalNow(stopOf(principal))
      return records.map((record) => {
        const now = contexts.get(record.approval.id)
        return { ...presentListed(record, now?.context, now?.facts), ...(record.approval.status === 'pending' && refused) }
      })
    },
  })
  routes.get(one, 'approvals.get', {
    permission: 'approval.read',
    summary: 'Retrieve an approval',
    description: 'Returns the requested payments, the decisions so far, the messages to sign, and the context for the decision.',
    params: byId('approval'),
    response: { 200: Approval },
    read: async ({ principal, params }) => {
      const { workspace } = principal
      const { id } = params
      await awaitName(deps, id)
      const record = found(await findApproval(deps.db, id, workspace.id))
      const { approval, payment, lineage } = record
      const reread = { payment, lineage, required: approval.requiredApprovals, zone: workspace }
      const [contexts, known, now] = await Promise.all([
        readContexts(deps, principal, [record]),
        readNotifications(deps.db, id),
        approval.status === 'pending' ? decideAt(deps.db, reread, deps.clock.now()) : null,
      ])
      const { context, facts } = contexts.get(id) ?? {}
      return {
        ...presentApproval(record, context, facts),
        notifications: await recordOpening(deps, principal, record, { known, eligible: context?.eligible_approvers ?? [] }),
        ...(now && approval.batchId === null && { decision_now: presentDecision(now.decision, payment.currency) }),
        ...(now && refusalNow(stopOf(principal) ?? now.refusal)),
      }
    },
  })
  routes.post(`${one}/decide`, 'approvals.decide', {
    // Rejecting stays possible in a frozen workspace; the service refuses approvals.
    permission: 'approval.decide',
    idempotent: true,
    whileFrozen: true,
    refuses: ['invalid_signature', ...decisionRefusals],
    summary: 'Approve or reject a payment',
    description:
      'Decides an approval with a credential that has `approval.decide`. With separation of duties, the initiator of the payment cannot decide. Credentials related to the initiating grant, such as its parent or child, can never decide. One rejection rejects the payment; the last required approval sends it. Repeating the same decision returns the same answer. `message_digest` identifies the text that was shown. If a name at the rail has changed since, the text is different and the answer is 409, reason `message_changed`.',
    params: byId('approval'),
    body: Decide,
    response: { 200: Approval },
    before: async ({ principal, params: { id }, body }) => {
      const [proof, answers] = await Promise.all([
        proveCaller(deps, principal, id, body),
        askChains(deps, id, principal.workspace.id),
      ])
      return { proof, answers }
    },
    // `principal` is read after the locks, so a freeze that was acknowledged in the meantime stops the approval.
    work: async (tx, { principal, params, body: input }, known) =>
      ok(presentApproval(await decideByCredential(tx, principal, params.id, { input, ...known }))),
  })
  routes.get(`${one}/message`, 'approvals.message', {
    access: 'public',
    summary: 'Retrieve the message to sign',
    description:
      'Returns the canonical text to sign, which the server writes in readable form. Sign it without changes. The answer waits up to five seconds for the first check of a beneficiary’s name. If a name changes while the approval is pending, the text changes and decisions on the old text become void. `status` shows the result, but not who decided.',
    params: byId('approval'),
    querystring: MessageQuery,
    response: { 200: SigningMessage },
    cacheControl: 'no-store',
    read: async ({ params, query }) => {
      await awaitName(deps, params.id)
      const record = found(await findApproval(deps.db, params.id))
      const { status, expiresAt } = record.approval
      const isOver = status === 'pending' && expiresAt <= deps.clock.now()
      return {
        message: messageFor(record.approval, query.decision),
        facts: await readFacts(deps, record),
        payments_count: record.batch?.itemsCount ?? 1,
        currency: record.payment.currency,
        status: isOver ? 'expired' : status,
        expires_at: isoTime(expiresAt),
      }
    },
  })
  routes.post(`${one}/decide-by-signature`, 'approvals.decide_by_signature', {
    access: 'public',
    credentialIssuing: true,
    refuses: ['invalid_signature', 'conflict', 'forbidden', ...decisionRefusals],
    summary: 'Approve or reject with a wallet signature',
    description:
      'Decides an approval without a credential. The signature over the canonical message (EIP-191) is checked against the wallets that can decide. Contract wallets must send their `address`.',
    params: byId('approval'),
    body: DecideBySignature,
    response: { 200: Approval },
    before: async ({ params, body }, reply) => {
      reply.header('cache-control', 'no-store')
      const unlocked = found(await findApproval(deps.db, params.id))
      const proven = await proveSigner(deps.db, deps.contractWallets, unlocked, body)
      const answers: ChainAnswers = proven ? await askChains(deps, unlocked.approval.id) : new Map()
      return { unlocked, proven, answers }
    },
    work: async (tx, request, { unlocked, proven, answers }) =>
      ok(presentApproval(await decideBySignature(tx, unlocked, originOf(request), { input: request.body, proven, answers }))),
  })
}
