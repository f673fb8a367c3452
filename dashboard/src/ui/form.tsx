import type { ReactNode } from 'react'

type FormProps = {
  className?: string
  /** What is typed can be sent. Enter does nothing before that. */
  ready?: boolean
  /** It is being sent: a second Enter does not send it again. */
  busy?: boolean
  onSubmit: () => void
  children: ReactNode
}

/** Its fields name their own mistakes, so the browser's validation is off. */
export const Form = ({ className, ready = true, busy = false, onSubmit, children }: FormProps) => (
  <form
    className={className}
    noValidate
    onSubmit={(event) => {
      event.preventDefault()
      // A form in a dialog that was opened from another form must not send that one too.
      event.stopPropagation()
      if (ready && !busy) onSubmit()
    }}
  >
    {children}
  </form>
)
