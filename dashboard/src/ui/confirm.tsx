import type { QueryKey } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { DialogButton, FormDialog } from './dialog.tsx'
import { useChange } from './use-change.ts'

type ConfirmProps<Result> = {
  title: string
  children: ReactNode
  action: string
  /** The label of the other button, where "Cancel" could mean the action itself. */
  keep?: string
  harmless?: boolean
  change: () => Promise<Result>
  /** What is announced once the change is made. */
  announcement: (result: Result) => string
  /** The queries to read again, by the first part of their keys. */
  outdates?: readonly string[]
  /** The query that the result answers. */
  keeps?: (result: Result) => { queryKey: QueryKey }
  onChanged?: (result: Result) => void
  onClose: () => void
}

/** Says what a change does, makes it once it is confirmed, announces it and closes. */
export const Confirm = <Result,>({
  children,
  harmless = false,
  change,
  announcement,
  outdates = [],
  keeps,
  ...props
}: ConfirmProps<Result>) => {
  const { onChanged, onClose, ...dialog } = props
  const making = useChange<Result>(change, {
    announcement,
    outdates,
    ...(keeps && { keeps }),
    onDone: (result) => {
      onClose()
      onChanged?.(result)
    },
  })
  return (
    <FormDialog {...dialog} making={making} red={!harmless} onClose={onClose}>
      <div className="quiet stack-s">{children}</div>
    </FormDialog>
  )
}

type ButtonProps<Result> = Omit<ConfirmProps<Result>, 'onClose'> & { button: Omit<ComponentProps<typeof DialogButton>, 'dialog'> }

/** A button whose change is confirmed first. */
export const ConfirmButton = <Result,>({ button, ...confirm }: ButtonProps<Result>) => (
  <DialogButton {...button} dialog={(close) => <Confirm {...confirm} onClose={close} />} />
)
