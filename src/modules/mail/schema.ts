import { z } from 'zod'
import { languages } from '../../db/tables/mail.ts'
import { TimeOut } from '../../http/wire.ts'

const mailed = { email: z.boolean().meta({ description: 'Whether you are mailed about it.' }) }
const approvals = { ...mailed, push: z.boolean().meta({ description: 'Whether your browsers and phones are notified of it.' }) }
const language = z.enum(languages).meta({ description: 'The language of your mails: English or Swahili.' })

const described = {
  approvals: 'An approval waits for you, and waits still at half of its time.',
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
          email: z.string(),
          refused_at: TimeOut.nullable().meta({ description: 'When a mail to it was last refused for good.' }),
        }),
      )
      .meta({ description: 'The verified addresses that are mailed. `refused_at`: when the last mail was refused for good.' }),
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
