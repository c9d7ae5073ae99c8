module example.org/fleet // the folders beside this one have the requirements
