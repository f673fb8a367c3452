import { useState } from 'react'
import { hasCode, messageOf } from '../../api/error.ts'
import { type Answer, api } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { CopyText, Secret } from '../../ui/copy.tsx'
import { fieldsOf, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Dialog, FormDialog, useChange } from '../../ui/form.tsx'
import { Facts, TextNotice } from '../../ui/page.tsx'
import { richDev, tDev } from './texts.ts'

const methods = [
  { value: 'client_secret_basic', label: tDev('client.header') },
  { value: 'client_secret_post', label: tDev('client.body') },
] as const

/** Registers an OAuth client for a program that needs a client ID and secret. No account owns it: people consent to it. */
export const NewClient = ({ onClose }: { onClose: () => void }) => {
  const [draft, setDraft] = useState({ name: '', redirects: '', method: 'client_secret_basic' })
  const redirects = draft.redirects.split(/\s+/).filter(Boolean)
  const create = useChange(() =>
    api.POST('/v1/oauth/register', {
      body: { client_name: draft.name.trim(), redirect_uris: redirects, token_endpoint_auth_method: draft.method },
    }),
  )
  const field = fieldsOf(draft, (change) => setDraft({ ...draft, ...change }), create.error)
  const isRedirect = hasCode(create.error, 'invalid_redirect_uri')
  if (create.data) return <MadeClient made={create.data} onClose={onClose} />
  return (
    <FormDialog
      title={tDev('client.new')}
      wide
      action={tDev('client.create')}
      mutation={{ ...create, error: isRedirect ? null : create.error }}
      ready={draft.name.trim() !== '' && redirects.length > 0}
      onClose={onClose}
    >
      <p className="muted">
        {richDev('client.note', {
          link: <a href="/docs/guides/oauth#a-client-with-a-fixed-id-and-secret">{tDev('client.guide')}</a>,
        })}
      </p>
      <TextField label={tDev('name')} hint={tDev('client.name_hint')} {...field('name')} maxLength={120} placeholder="n8n" />
      <TextArea
        label={tDev('client.redirects')}
        hint={tDev('client.redirects_hint')}
        {...field('redirects')}
        error={isRedirect ? messageOf(create.error) : undefined}
        mono
      />
      <SelectField label={tDev('client.method')} {...field('method')} options={methods} />
    </FormDialog>
  )
}

const MadeClient = ({ made, onClose }: { made: Answer<'/v1/oauth/register', 'post'>; onClose: () => void }) => {
  const copied = (label: string, value: string) => ({ [label]: <CopyText value={value} label={label} /> })
  return (
    <Dialog
      title={made.client_name}
      onClose={onClose}
      stays
      wide
      footer={
        <Button variant="primary" onClick={onClose}>
          {tDev('client.saved')}
        </Button>
      }
    >
      <TextNotice tone="warn" title={tDev('client.copy')}>
        {tDev('client.copy_note')}
      </TextNotice>
      <Facts
        stacked
        facts={{
          ...copied(tDev('client.id'), made.client_id),
          [tDev('client.secret')]: <Secret value={made.client_secret ?? ''} label={tDev('client.secret')} />,
          ...copied(tDev('client.authorize'), `${location.origin}/v1/oauth/authorize`),
          ...copied(tDev('client.token'), `${location.origin}/v1/oauth/token`),
        }}
      />
    </Dialog>
  )
}
