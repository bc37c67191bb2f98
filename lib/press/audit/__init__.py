"""What a chapter owes: its form, the proofs of what it claims, nothing foreign in its markup."""
