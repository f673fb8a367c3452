import { z } from 'zod'
import { IdOut, MessageDigest, MinorIn, MinorOut, TimeOut } from '../../http/wire.ts'
import { signedText } from '../identity/passkeys/signed-text-service.ts'
import { WorkspaceView } from '../workspaces/schema.ts'

export const SeparateBalance = z
  .strictObject({ amount_minor: MinorIn.meta({ description: 'How much of the shared balance becomes the workspace’s own.' }) })
  .meta({ id: 'SeparateBalance' })

export const PendingSeparation = z
  .object({
    workspace_id: IdOut('workspace').meta({ description: 'The workspace that gets a balance of its own.' }),
    amount_minor: MinorOut,
    message: z.string().meta({ description: 'The text that confirms it, byte for byte.' }),
    requested_by: IdOut('account'),
    effective_at: TimeOut.meta({
      description: 'When it takes effect without a confirmation, where no rule asks for a signature; else it is withdrawn then.',
    }),
  })
  .meta({ id: 'PendingSeparation' })
export type PendingSeparation = z.output<typeof PendingSeparation>

export const SeparationView = WorkspaceView.extend({
  pending_separation: PendingSeparation.nullable().meta({
    description: 'What waits to be confirmed, or for its time; null if nothing does.',
  }),
}).meta({
  id: 'SeparationView',
})

export const ConfirmSeparation = z
  .strictObject({
    ...signedText('pending_separation.message'),
    message_digest: MessageDigest.optional().meta({
      description:
        'The SHA-256 of the `pending_separation.message` that was shown, in hexadecimal: 409 `message_changed` for another text.',
    }),
  })
  .meta({ id: 'ConfirmSeparation' })
export type ConfirmSeparation = z.output<typeof ConfirmSeparation>

export type SeparationView = z.output<typeof SeparationView>
