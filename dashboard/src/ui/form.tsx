import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { adviceFor, messageOf } from '../api/error.ts'
import { cx } from '../lib/class-names.ts'
import { toHex } from '../lib/hex.ts'
import { t } from '../lib/language.ts'
import { Button, IconButton, Submit } from './button.tsx'
import { Card, Failure } from './page.tsx'
import { announce } from './toast.tsx'

type FormProps = {
  className?: string
  /** Whether the form can be sent. Until then, Enter does nothing. */
  ready?: boolean
  /** Whether the form is being sent: a second Enter then does nothing. Undefined for forms that send nothing. */
  busy?: boolean
  onSubmit: () => void
  children: ReactNode
}

/** Two submissions within this time count as one: the second may come before the page shows that the first is under way. */
const doublePressMs = 600

/** Turns off the browser's validation, because the fields show their own errors. */
export const Form = ({ className, ready = true, busy, onSubmit, children }: FormProps) => {
  const sentAt = useRef(Number.NEGATIVE_INFINITY)
  // After an answer, the form may be sent again immediately.
  useEffect(() => {
    if (!busy) sentAt.current = Number.NEGATIVE_INFINITY
  }, [busy])
  return (
    <form
      className={className}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        // A form in a dialog must not also send the form that opened the dialog.
        event.stopPropagation()
        if (!ready || busy || (busy === false && event.timeStamp - sentAt.current < doublePressMs)) return
        sentAt.current = event.timeStamp
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}

type FormCardProps = Pick<FormProps, 'ready' | 'className' | 'children'> & {
  title?: string
  action: ReactNode
  mutation: FormMutation
  large?: boolean
}

export const FormCard = ({ title, action, mutation, ready = true, large = false, children, ...form }: FormCardProps) => (
  <Form ready={ready} busy={mutation.isPending} onSubmit={() => mutation.mutate()} {...form}>
    <Card
      {...(title !== undefined && { title })}
      footer={
        <Submit size={large ? 'large' : 'normal'} busy={mutation.isPending} disabled={!ready}>
          {action}
        </Submit>
      }
    >
      {children}
      <Failure error={mutation.error} />
    </Card>
  </Form>
)

/** The change that a form sends: a function that sends it, its progress and its error. */
export type FormMutation = { isPending: boolean; error: unknown; mutate: () => void }

type ChangeOptions<Result, Input> = {
  announcement?: string | ((result: Result) => string)
  /** Queries to reload, by the first part of their keys. Reloaded even after a failure, which may leave a partial change. */
  invalidates?: readonly string[] | undefined
  cachesAs?: ((result: Result) => { queryKey: QueryKey }) | undefined
  onDone?: (result: Result, input: Input) => void
  /** Whether to announce a failure, because the page has no place for it. */
  announcesFailure?: boolean
}

/** A change that the service makes. `keyed` adds an idempotency key to a body, the same key for the same body. */
export const useChange = <Result, Input = void>(
  change: (keyed: Keyed, input: Input) => Promise<Result>,
  { announcement, invalidates = [], cachesAs, onDone, announcesFailure = false }: ChangeOptions<Result, Input> = {},
) => {
  const client = useQueryClient()
  const keyed = useIdempotencyKey()
  return useMutation({
    mutationFn: (input: Input) => change(keyed, input),
    onSuccess: (result, input) => {
      if (announcement !== undefined) announce(typeof announcement === 'string' ? announcement : announcement(result))
      if (cachesAs) client.setQueryData(cachesAs(result).queryKey, result)
      onDone?.(result, input)
    },
    onError: (error) => {
      if (announcesFailure) announce(`${messageOf(error)} ${adviceFor(error)}`, 'bad')
    },
    onSettled: () => {
      for (const name of invalidates) void client.invalidateQueries({ queryKey: [name] })
    },
  })
}

type DialogProps = Pick<ModalProps, 'stays'> & {
  title: string
  onClose: () => void
  children: ReactNode
  footer?: ReactNode
  wide?: boolean
  onSubmit?: () => void
  ready?: boolean
  busy?: boolean
}

/** First field to type in. Without one, the dialog itself gets the focus, so that no button is pressed by accident. */
const fields = '.dialog-body :is(input:not([type="radio"], [type="checkbox"]), select, textarea)'

type ModalProps = Pick<ComponentProps<'dialog'>, 'className' | 'aria-label' | 'aria-labelledby' | 'children'> & {
  onClose: () => void
  /** Selector of the element to focus first. Without a match: the dialog itself. Default: the browser's choice. */
  first?: string
  /** Whether Escape or a click outside leaves the dialog open, because it shows something that is shown only once. */
  stays?: boolean
}

/** The browser's own dialog: it keeps and restores the focus, and closes on Escape. Open while rendered. */
export const Modal = ({ onClose, first, stays = false, className, ...dialog }: ModalProps) => {
  const element = useRef<HTMLDialogElement>(null)
  // Before the browser handles the next key: where one dialog replaces another, the focus is never on the page behind.
  useLayoutEffect(() => {
    const active = document.activeElement
    // A dialog opened by a shortcut has no opener: the focus then returns to the main content, not to the start of the page.
    const opener = active === document.body ? document.querySelector('main') : active
    const dialog = element.current
    dialog?.showModal()
    if (first !== undefined) (dialog?.querySelector<HTMLElement>(first) ?? dialog)?.focus()
    return () => {
      // The page cannot take the focus while the dialog is modal.
      dialog?.close()
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: opener !== active })
    }
  }, [first])
  return (
    <dialog
      ref={element}
      className={cx('dialog', className)}
      tabIndex={-1}
      // A browser closes a dialog at the second Escape in a row, whatever its cancel event answers.
      onKeyDown={(event) => {
        if (stays && event.key === 'Escape') event.preventDefault()
      }}
      onCancel={(event) => {
        event.preventDefault()
        if (!stays) onClose()
      }}
      onMouseDown={(event) => {
        if (!stays && event.target === element.current) onClose()
      }}
      {...dialog}
    />
  )
}

export const Dialog = ({ title, onClose, children, footer, wide = false, stays, onSubmit, ready, busy }: DialogProps) => {
  const titleId = useId()
  const content = (
    <>
      <div className="dialog-body stack">{children}</div>
      {footer && <div className="row row-end dialog-footer">{footer}</div>}
    </>
  )
  return (
    <Modal
      className={wide ? 'dialog-wide' : undefined}
      aria-labelledby={titleId}
      onClose={onClose}
      first={fields}
      stays={stays ?? false}
    >
      <div className="row row-between dialog-header">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="cross" label={t('close')} onClick={onClose} />
      </div>
      {onSubmit ? (
        <Form onSubmit={onSubmit} {...(ready !== undefined && { ready })} {...(busy !== undefined && { busy })}>
          {content}
        </Form>
      ) : (
        content
      )}
    </Modal>
  )
}

type FormDialogProps = Pick<DialogProps, 'title' | 'onClose' | 'children' | 'wide' | 'ready'> & {
  action: string
  mutation: FormMutation
  /** Whether the action is destructive. */
  destructive?: boolean
  /** Label of the other button, if "Cancel" could mean the action itself, or a replacement for that button. */
  keep?: ReactNode
}

/** A form in a dialog, with its fields, its error and the button that sends it. */
export const FormDialog = ({
  action,
  mutation,
  destructive = false,
  keep = t('cancel'),
  children,
  ...dialog
}: FormDialogProps) => (
  <Dialog
    {...dialog}
    busy={mutation.isPending}
    onSubmit={() => mutation.mutate()}
    footer={
      <>
        {typeof keep === 'string' ? <Button onClick={dialog.onClose}>{keep}</Button> : keep}
        <Button
          type="submit"
          variant={destructive ? 'red' : 'primary'}
          busy={mutation.isPending}
          disabled={dialog.ready === false}
        >
          {action}
        </Button>
      </>
    }
  >
    {children}
    <Failure error={mutation.error} />
  </Dialog>
)

type OpenerProps = Omit<ComponentProps<typeof Button>, 'onClick'> & {
  dialog: (close: () => void) => ReactNode
  /** False: hides the button. An open dialog stays open. */
  offered?: boolean
  /** Shows only the icon, for a table row. */
  asIcon?: boolean
  /** Whether the dialog is open at first. */
  opened?: boolean
}

export const DialogButton = ({ dialog, offered = true, asIcon = false, opened = false, ...button }: OpenerProps) => {
  const [open, setOpen] = useState(opened)
  const { icon, label } = button
  return (
    <>
      {offered && asIcon && icon && label && <IconButton {...{ icon, label }} onClick={() => setOpen(true)} />}
      {offered && !asIcon && <Button {...button} onClick={() => setOpen(true)} />}
      {open && dialog(() => setOpen(false))}
    </>
  )
}

type ConfirmProps<Result> = {
  title: string
  children: ReactNode
  action: string
  /** Label of the other button, if "Cancel" could mean the action itself. */
  keep?: string
  harmless?: boolean
  change: () => Promise<Result>
  announcement: (result: Result) => string
  onChanged?: (result: Result) => void
  onClose: () => void
} & Pick<ChangeOptions<Result, void>, 'invalidates' | 'cachesAs'>

/** Dialog that explains a change, makes it after confirmation, announces it and closes. */
export const Confirm = <Result,>({
  children,
  harmless = false,
  change,
  announcement,
  invalidates,
  cachesAs,
  onChanged,
  onClose,
  ...dialog
}: ConfirmProps<Result>) => {
  const mutation = useChange<Result>(change, {
    announcement,
    invalidates,
    cachesAs,
    onDone: (result) => {
      onClose()
      onChanged?.(result)
    },
  })
  return (
    <FormDialog {...dialog} mutation={mutation} destructive={!harmless} onClose={onClose}>
      <div className="muted stack-s">{children}</div>
    </FormDialog>
  )
}

type ButtonProps<Result> = Omit<ConfirmProps<Result>, 'onClose'> & { button: Omit<ComponentProps<typeof DialogButton>, 'dialog'> }

export const ConfirmButton = <Result,>({ button, ...confirm }: ButtonProps<Result>) => (
  <DialogButton {...button} dialog={(close) => <Confirm {...confirm} onClose={close} />} />
)

const randomKey = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)))

/**
 * Adds an idempotency key, the same for the same content of a form. A second click or a retry after a lost answer repeats the
 * first request. A corrected form sends a new one. `of`: the purpose of the key, if the body does not identify it.
 */
export const useIdempotencyKey = () => {
  const keys = useRef(new Map<string, string>())
  return <Body,>(body: Body, of: unknown = body) => {
    const content = JSON.stringify(of)
    const key = keys.current.get(content) ?? randomKey()
    keys.current.set(content, key)
    return { body, headers: { 'Idempotency-Key': key } }
  }
}

export type Keyed = ReturnType<typeof useIdempotencyKey>
