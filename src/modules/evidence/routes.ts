import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { inTx } from '../../db/client.ts'
import { audit } from '../../events/audit.ts'
import type { App } from '../../http/app-type.ts'
import { pagesOf } from '../../http/csv.ts'
import { routesOf } from '../../http/routes.ts'
import { Refusal } from '../../lib/errors.ts'
import { zip } from '../../lib/zip.ts'
import type { Parts } from '../parts.ts'
import { ReadStatement } from '../statements/schema.ts'
import { openStatement } from '../statements/service.ts'
import { evidenceFiles } from './archive.ts'

const ReadEvidence = z.strictObject({ from: ReadStatement.shape.from, to: ReadStatement.shape.to })

const Archive = z
  .string()
  .meta({ id: 'EvidenceArchive', format: 'binary', description: 'A ZIP archive. Its last file is `manifest.json`.' })

/** Maximum concurrent exports in this process, so that exports leave most of the database to payments. */
const maxAtOnce = 4

const send = (reply: FastifyReply, archive: Readable, name: string): FastifyReply =>
  reply.header('content-disposition', `attachment; filename="${name}"`).type('application/zip').send(archive)

export const registerEvidence = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const underWay = new Set<string>()
  routes.handle('GET', '/v1/workspaces/current/evidence', 'workspaces.evidence', {
    permission: 'audit.read',
    access: 'undelegated',
    summary: 'Export evidence for an audit',
    description:
      'Exports the activity of the workspace between two dates as a ZIP archive. It contains approvals with signatures, policies and their changes, the audit log, beneficiaries, the statement with balances, and the receipt of each payment. `manifest.json` contains the SHA-256 of each file and is signed like receipts: `verify-receipt` checks the archive without trusting this service. A workspace can run one export at a time. If an export fails, the connection closes, so that a partial archive is not mistaken for a complete one.',
    querystring: ReadEvidence,
    response: {
      200: {
        description: 'The archive. Files of records contain one JSON document per line.',
        content: { 'application/zip': { schema: Archive } },
      },
    },
    handler: async (request, reply) => {
      const { principal, query } = request
      const { id } = principal.workspace
      if (underWay.has(id) || underWay.size >= maxAtOnce)
        throw new Refusal('rate_limited', {
          message: 'An export of evidence is under way. Wait until it has ended.',
          headers: { 'retry-after': '30' },
        })
      underWay.add(id)
      try {
        const opened = await openStatement(deps, principal, query, { isOfWorkspace: true, after: null })
        const { from, to } = opened.period
        await inTx(deps.db, async (tx) => audit(tx, principal, 'workspace.export_evidence', { subject: id, after: { from, to } }))
        const archive = Readable.from(
          zip(evidenceFiles(deps, { principal, pages: (read) => pagesOf(request, read) }, opened), deps.clock.now()),
          { objectMode: false },
        )
        archive.once('close', () => underWay.delete(id))
        return send(reply, archive, `evidence-${from}-${to}.zip`)
      } catch (error) {
        underWay.delete(id)
        throw error
      }
    },
  })
}
