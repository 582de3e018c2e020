/** A mail to one address, in plain text. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** A mail as it is sent. */
export interface OutgoingMail extends Mail {
  /** The same each time that it is sent. */
  messageId: string;
  date: Date;
}

/** The transport of mails. */
export interface MailTransport {
  /** The name of the place they go to, for people: a server, or a folder. */
  to: string;
  /** @throws Undeliverable for a mail that nobody will ever take; whatever is wrong for one to try again. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}
