"""What a design optimises, one module for each objective: import these modules."""
