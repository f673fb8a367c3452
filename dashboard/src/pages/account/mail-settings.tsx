import { useQuery } from '@tanstack/react-query'
import { api, type Body, notificationSettingsQuery } from '../../api/queries.ts'
import { languageOptions, t } from '../../lib/language.ts'
import { CheckField, SelectField } from '../../ui/field.tsx'
import { useChange } from '../../ui/form.tsx'
import { Card, Failure, SkeletonRows, TextNotice, Time } from '../../ui/page.tsx'
import { richAccount, tAccount } from './texts.ts'

const path = '/v1/accounts/me/notification-settings'
const topics = ['lists', 'balance', 'policies'] as const

/** Email notifications: topics, addresses and language. A change takes effect immediately. */
export const MailSettings = () => {
  const { data, error } = useQuery(notificationSettingsQuery)
  const save = useChange((_, body: Body<typeof path, 'patch'>) => api.PATCH(path, { body }), {
    announcement: tAccount('saved'),
    cachesAs: () => notificationSettingsQuery,
  })
  if (!data) return <Card title={t('notifications')}>{error ? <Failure error={error} /> : <SkeletonRows rows={3} />}</Card>
  const { addresses, delivery } = data
  // Shows a choice immediately, before the service answers.
  const chosen = save.isPending ? save.variables : {}
  const { language, ...told } = { ...data, ...chosen }
  const approvals = { ...data.approvals, ...chosen.approvals }
  const refused = addresses.filter(({ refused_at: at }) => at !== null)
  return (
    <Card
      title={t('notifications')}
      note={
        addresses.length > 0
          ? tAccount('mails.to', { emails: addresses.map(({ email }) => email).join(', ') })
          : tAccount('mails.nowhere')
      }
    >
      {delivery === 'off' && (
        <TextNotice tone="info" title={tAccount('mails.off')}>
          {tAccount('mails.off_note')}
        </TextNotice>
      )}
      {delivery === 'sandbox' && (
        <TextNotice tone="info" title={tAccount('mails.sandbox')}>
          {richAccount('mails.sandbox_note', { mailbox: <a href="/sandbox/mail">{tAccount('mails.mailbox')}</a> })}
        </TextNotice>
      )}
      {refused.map(({ email, refused_at: at }) => (
        <TextNotice key={email} tone="bad" title={tAccount('mails.refused', { email })}>
          {richAccount('mails.refused_note', { at: <Time at={at} /> })}
        </TextNotice>
      ))}
      <CheckField
        label={tAccount('mails.approvals')}
        hint={tAccount('mails.approvals_hint')}
        value={approvals.email ?? true}
        onChange={(email) => save.mutate({ approvals: { email } })}
      />
      <CheckField
        label={tAccount('mails.devices')}
        hint={tAccount('mails.devices_hint')}
        value={approvals.push ?? true}
        onChange={(push) => save.mutate({ approvals: { push } })}
      />
      {topics.map((topic) => (
        <CheckField
          key={topic}
          label={tAccount(`mails.${topic}`)}
          value={told[topic].email ?? true}
          onChange={(email) => save.mutate({ [topic]: { email } })}
        />
      ))}
      <SelectField
        label={t('language')}
        value={language}
        onChange={(chosen) => save.mutate({ language: chosen })}
        options={languageOptions}
        hint={tAccount('language.hint')}
      />
      <p className="muted small">{tAccount('mails.always')}</p>
      <Failure error={save.error} />
    </Card>
  )
}
