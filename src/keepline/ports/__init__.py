"""What the wings need from outside, as values and protocols; answered by the rooms beside them."""
