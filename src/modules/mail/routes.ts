import type { App } from '../../http/app-type.ts'
import { ok } from '../../http/idempotency.ts'
import { routesOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { NotificationSettings, UpdateNotificationSettings } from './schema.ts'
import { readSettings, updateSettings } from './settings-service.ts'

const path = '/v1/accounts/me/notification-settings'

export const registerNotificationSettings = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.get(path, 'notification_settings.get', {
    access: 'undelegated',
    summary: 'Retrieve notification settings',
    description:
      'Returns the notifications that are emailed to the verified addresses of your account or pushed to your browsers, and their language. All are on by default. Security emails (for a new browser, sign-in method, passkey, key or approver) cannot be turned off.',
    response: { 200: NotificationSettings },
    read: ({ principal }) => readSettings(deps.db, deps.config, principal.accountId),
  })
  routes.patch(path, 'notification_settings.update', {
    access: 'undelegated',
    freshProof: 'by_content',
    whileFrozen: true,
    summary: 'Update notification settings',
    description: 'Omitted fields keep their value. Turning a notification off requires step-up.',
    body: UpdateNotificationSettings,
    response: { 200: NotificationSettings },
    work: async (tx, { principal, body }) => {
      await updateSettings(tx, principal, body)
      return ok(await readSettings(tx, deps.config, principal.accountId))
    },
  })
}
