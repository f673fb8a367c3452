import type { App } from '../../../http/app-type.ts'
import { type Answer, ok, respondOnce } from '../../../http/idempotency.ts'
import { originOf } from '../../../http/origin.ts'
import { pageOf, readPage } from '../../../http/pagination.ts'
import { byId, isoTime } from '../../../http/wire.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { readContext } from './context.ts'
import { decideByCredential, decideBySignature } from './decide.ts'
import { presentApproval, presentListed } from './present.ts'
import { type ApprovalRecord, findApproval, findApprovalIn, listApprovals } from './queries.ts'
import { Approval, Decide, DecideBySignature, ListApprovals, MessageQuery, SigningMessage } from './schema.ts'
import { proveCaller, proveSigner } from './signer.ts'

const path = '/v1/approvals'
const one = `${path}/:id`

/** What refuses a decision, whether a credential or a signature gives it; an approval is also refused while something stops the payment. */
const decisionRefusals = [
  'conflict',
  'separation_of_duties',
  'workspace_frozen',
  'account_frozen',
  'capability_disabled',
  'grant_frozen',
  'beneficiary_frozen',
] as const

const answer = (record: ApprovalRecord): Answer => ok(presentApproval(record))

export const registerApprovals = (app: App, deps: Deps): void => {
  app.get(
    path,
    {
      config: { operation: 'approvals.list', permission: 'approval.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: ListApprovals,
        response: { 200: pageOf(Approval) },
      },
    },
    async (request, reply) => {
      const { workspace } = request.principal
      return reply.send(
        await readPage(deps, request, {
          of: workspace.id,
          read: (page) => listApprovals(deps.db, workspace.id, page, request.query.status),
          idOf: (row) => row.approval.id,
          present: (rows) => rows.map((row) => presentListed(row)),
        }),
      )
    },
  )
  app.get(
    one,
    {
      config: { operation: 'approvals.get', permission: 'approval.read', refuses: ['not_found'] },
      schema: { params: byId('approval'), response: { 200: Approval } },
    },
    async (request, reply) => {
      const { workspace } = request.principal
      const { id } = request.params
      const [record, contextOf] = await Promise.all([
        findApprovalIn(deps.db, workspace.id, id),
        readContext(deps.db, workspace, id),
      ])
      if (!record) throw notFound()
      return reply.send(presentApproval(record, contextOf(record)))
    },
  )
  app.post(
    `${one}/decide`,
    {
      // A frozen workspace may still reject; the service refuses an approval then.
      config: {
        operation: 'approvals.decide',
        sideBySide: true,
        permission: 'approval.decide',
        idempotent: true,
        whileFrozen: true,
        refuses: ['invalid_request', 'invalid_signature', 'not_found', ...decisionRefusals],
      },
      schema: {
        params: byId('approval'),
        body: Decide,
        response: {
          200: Approval,
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { passkey: _, ...input } = request.body
      const proof = await proveCaller(deps, request.principal, id, request.body)
      return respondOnce(deps, request, reply, async (tx) =>
        answer(await decideByCredential(tx, deps, request.principal, id, { input, proof })),
      )
    },
  )
  app.get(
    `${one}/message`,
    {
      config: { operation: 'approvals.message', access: 'public', refuses: ['invalid_request', 'not_found'] },
      schema: {
        params: byId('approval'),
        querystring: MessageQuery,
        response: { 200: SigningMessage },
      },
    },
    async (request, reply) => {
      const record = await findApproval(deps.db, request.params.id)
      if (!record) throw notFound()
      const { approveMessage, rejectMessage, expiresAt } = record.approval
      return reply
        .header('cache-control', 'no-store')
        .send({ message: request.query.decision === 'approve' ? approveMessage : rejectMessage, expires_at: isoTime(expiresAt) })
    },
  )
  app.post(
    `${one}/decide-by-signature`,
    {
      config: {
        operation: 'approvals.decide_by_signature',
        access: 'public',
        credentialIssuing: true,
        refuses: ['invalid_request', 'invalid_signature', 'not_found', ...decisionRefusals],
      },
      schema: {
        params: byId('approval'),
        body: DecideBySignature,
        response: {
          200: Approval,
        },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const unlocked = await findApproval(deps.db, request.params.id)
      if (!unlocked) throw notFound()
      const proven = await proveSigner(deps, unlocked, request.body)
      return respondOnce(deps, request, reply, async (tx) =>
        answer(await decideBySignature(tx, deps, unlocked, { origin: originOf(request), input: request.body, proven })),
      )
    },
  )
}
