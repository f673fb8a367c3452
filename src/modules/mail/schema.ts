import { z } from 'zod'
import { languages } from '../../db/tables/mail.ts'
import { TimeOut } from '../../http/wire.ts'

const email = z.boolean().meta({ description: 'By e-mail, to each verified address of the account.' })
const approvals = { email, push: z.boolean().meta({ description: 'To the browsers that asked for notifications.' }) }
const mailed = { email }
const language = z.enum(languages).meta({ description: 'In which language mails are written.' })

const described = {
  approvals: 'An approval waits for you, and still waits at half of its time.',
  lists: 'A payment batch that you asked for has ended with failures.',
  balance: 'Money is short for what is scheduled.',
  policies: 'A change of a policy waits to be confirmed.',
} as const

export const NotificationSettings = z
  .object({
    approvals: z.object(approvals).meta({ description: described.approvals }),
    lists: z.object(mailed).meta({ description: described.lists }),
    balance: z.object(mailed).meta({ description: described.balance }),
    policies: z.object(mailed).meta({ description: described.policies }),
    language,
    delivery: z.enum(['smtp', 'sandbox', 'off']).meta({
      description: '`off`: this deployment sends no mail. `sandbox`: mails are shown on a page of the sandbox.',
    }),
    addresses: z
      .array(
        z.object({
          email: z.string().meta({ description: 'A verified address of a sign-in method.' }),
          refused_at: TimeOut.nullable().meta({ description: 'When the last mail to it was refused for good.' }),
        }),
      )
      .meta({ description: 'The addresses that are mailed.' }),
  })
  .meta({ id: 'NotificationSettings' })
export type NotificationSettings = z.output<typeof NotificationSettings>

export const UpdateNotificationSettings = z
  .strictObject({
    approvals: z.strictObject(approvals).partial().meta({ description: described.approvals }),
    lists: z.strictObject(mailed).partial().meta({ description: described.lists }),
    balance: z.strictObject(mailed).partial().meta({ description: described.balance }),
    policies: z.strictObject(mailed).partial().meta({ description: described.policies }),
    language,
  })
  .partial()
  .meta({ id: 'UpdateNotificationSettings' })
export type UpdateNotificationSettings = z.output<typeof UpdateNotificationSettings>
